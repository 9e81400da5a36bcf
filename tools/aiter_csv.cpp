// The table of tuned products that aiter keeps as CSV (aiter/configs,
// csrc/ck_gemm_a4w4_blockscale/README.md).
#include "tools/aiter_csv.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Regex.h>

namespace nereid::tools {
namespace {

constexpr int64_t compute_units = 256; // MI350X, MI355X
constexpr int max_split_log2 = 10;

using Row = std::map<std::string, llvm::StringRef, std::less<>>;

/// What commas separate that are not between quotes.
std::vector<llvm::StringRef> cells_of(llvm::StringRef line) {
  std::vector<llvm::StringRef> cells;
  bool quoted = false;
  size_t first = 0;
  for (size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"')
      quoted = !quoted;
    if (i < line.size() && (line[i] != ',' || quoted))
      continue;
    cells.push_back(line.slice(first, i).trim().trim('"').trim());
    first = i + 1;
  }
  return cells;
}

/// The tile in a kernel's name: "..._BpreShuffle_128x512..." of assembly,
/// "a4w4_blockscale_256x64x128x128_..." of CK (threads, M, N, K).
bool read_tile(llvm::StringRef name, AiterRow &row) {
  llvm::SmallVector<llvm::StringRef> found;
  const bool known = llvm::Regex("BpreShuffle_([0-9]+)x([0-9]+)").match(name, &found) ||
                     llvm::Regex("a4w4_blockscale_[0-9]+x([0-9]+)x([0-9]+)x[0-9]+_").match(name, &found);
  return known && !found[1].getAsInteger(10, row.tile_m) && !found[2].getAsInteger(10, row.tile_n);
}

Error bad(const std::string &name, size_t line, const std::string &what) {
  return user_error(fmt::format("{}:{}: {}", name, line, what),
                    "It is to be aiter's tuned table of a4w4 products, with its header");
}

Status read_row(const Row &cells, const std::string &name, size_t line, AiterRows &out) {
  const auto number = [&](const char *column, auto &value) -> Status {
    if (cells.find(column)->second.getAsInteger(10, value))
      return bad(name, line, fmt::format("{} is no number", column));
    return {};
  };
  const auto cell = [&](const char *column) {
    const auto found = cells.find(column);
    return found == cells.end() ? llvm::StringRef() : found->second;
  };
  int64_t units = compute_units;
  if (!cell("cu_num").empty())
    NEREID_CHECK(number("cu_num", units));
  if (units != compute_units || (!cell("gfx").empty() && cell("gfx") != "gfx950")) {
    ++out.other_devices;
    return {};
  }
  AiterRow row;
  NEREID_CHECK(number("M", row.size.m));
  NEREID_CHECK(number("N", row.size.n));
  NEREID_CHECK(number("K", row.size.k));
  int split_log2 = 0;
  if (!cell("splitK").empty())
    NEREID_CHECK(number("splitK", split_log2));
  // Where nothing was measured the cell is empty or nan.
  if (cell("us").empty())
    row.us = 0;
  else if (cell("us").getAsDouble(row.us))
    return bad(name, line, "us is no number");
  if (!std::isfinite(row.us) || row.us <= 0 || split_log2 < 0 || split_log2 > max_split_log2 ||
      !read_tile(cell("kernelName"), row)) {
    ++out.without_kernel;
    return {};
  }
  row.split_k = 1 << split_log2;
  out.rows.push_back(row);
  return {};
}

} // namespace

Result<AiterRows> read_aiter_csv(std::string_view text, const std::string &name) {
  llvm::StringRef content(text);
  content.consume_front("\xef\xbb\xbf"); // a byte order mark
  auto [header, rest] = content.split('\n');
  const std::vector<llvm::StringRef> columns = cells_of(header);
  for (const char *needed : {"M", "N", "K", "us", "kernelName"})
    if (std::find(columns.begin(), columns.end(), needed) == columns.end())
      return bad(name, 1, fmt::format("there is no column {}", needed));
  for (size_t i = 0; i < columns.size(); ++i)
    if (std::find(columns.begin(), columns.begin() + static_cast<ptrdiff_t>(i), columns[i]) !=
        columns.begin() + static_cast<ptrdiff_t>(i))
      return bad(name, 1, fmt::format("there are two columns '{}'", columns[i].str()));
  AiterRows rows;
  for (size_t number = 2; !rest.empty(); ++number) {
    const auto [line, others] = rest.split('\n');
    rest = others;
    if (line.trim().empty())
      continue;
    const std::vector<llvm::StringRef> values = cells_of(line);
    if (values.size() != columns.size())
      return bad(name, number,
                 fmt::format("it has {} columns where the header has {}", values.size(), columns.size()));
    Row cells;
    for (size_t i = 0; i < columns.size(); ++i)
      cells.emplace(columns[i], values[i]);
    NEREID_CHECK(read_row(cells, name, number, rows));
  }
  return rows;
}

} // namespace nereid::tools
