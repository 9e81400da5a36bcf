// Reads tables of measured times.
#include "tools/calibrate/times.h"

#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/MemoryBuffer.h>

namespace nereid::calibrate {
namespace {

constexpr const char *header = "M,N,K,tile_m,tile_n,us";
constexpr std::array whole_fields = {"M", "N", "K", "tile_m", "tile_n"};
constexpr size_t field_count = whole_fields.size() + 1;
constexpr size_t max_size = size_t{1} << 31;

/// Parses all of a field, or gives false.
template <class Number> bool parse(llvm::StringRef text, Number &value) {
  const auto [stop, status] = std::from_chars(text.begin(), text.end(), value);
  return status == std::errc() && stop == text.end() && !text.empty();
}

Result<Measurement> parse_line(llvm::StringRef line, const SourceLine &where) {
  llvm::SmallVector<llvm::StringRef> fields;
  line.split(fields, ',');
  if (fields.size() != field_count)
    return user_error(fmt::format("{} fields, expected {}", fields.size(), field_count),
                      fmt::format("the fields are {}", header), where);
  std::array<size_t, whole_fields.size()> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i)
    if (!parse(fields[i].trim(), numbers[i]) || numbers[i] < 1 || numbers[i] > max_size)
      return user_error(fmt::format("{} is '{}'", whole_fields[i], fields[i].str()),
                        fmt::format("give a whole number from 1 to {}", max_size), where);
  double us = 0;
  if (!parse(fields.back().trim(), us) || !std::isfinite(us) || us <= 0)
    return user_error(fmt::format("us is '{}'", fields.back().str()), "give microseconds above 0", where);
  const auto [m, n, k, tile_m, tile_n] = numbers;
  return Measurement{{m, n, k}, {tile_m, tile_n}, us, false, where};
}

} // namespace

Result<std::vector<Measurement>> parse_times(const std::string &text, const std::string &name) {
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n');
  std::vector<Measurement> result;
  std::map<std::pair<Shape, Tile>, unsigned> seen;
  for (size_t i = 0; i < lines.size(); ++i) {
    const SourceLine where{name, static_cast<unsigned>(i + 1)};
    const llvm::StringRef line = lines[i].trim();
    if (i == 0 && line != header)
      return user_error(fmt::format("the first line is '{}'", line.substr(0, 80).str()),
                        fmt::format("it has to be {}", header), where);
    if (i == 0 || line.empty())
      continue;
    NEREID_TRY(Measurement row, parse_line(line, where));
    const auto [earlier, added] = seen.insert({{row.shape, row.tile}, where.line});
    if (!added)
      return user_error(fmt::format("line {} has this launch already", earlier->second), "keep one of them",
                        where);
    result.push_back(std::move(row));
  }
  if (result.empty())
    return user_error("the table has no measurement", {}, {name, 1});
  return result;
}

Result<std::vector<Measurement>> read_times(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true, /*RequiresNullTerminator=*/false);
  if (!file)
    return user_error(fmt::format("cannot read {}: {}", path, file.getError().message()));
  return parse_times((*file)->getBuffer().str(), path);
}

} // namespace nereid::calibrate
