// The shapes of a tuning run: from the command line, from a file, for one of several machines.
#include "tools/tune_shapes.h"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/MemoryBuffer.h>

#include "tools/size_options.h"

namespace nereid::tools {
namespace {

using Shapes = std::vector<kernels::ProblemSize>;

Status add(const std::string &text, Shapes &shapes) {
  NEREID_TRY(const kernels::ProblemSize size, parse_size(text));
  NEREID_CHECK(kernels::check_shape(size));
  if (std::find(shapes.begin(), shapes.end(), size) == shapes.end())
    shapes.push_back(size);
  return {};
}

/// A line a shape; a header and what follows '#' are left out.
Status add_file(const std::string &path, Shapes &shapes) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return user_error(fmt::format("cannot read {}: {}", path, file.getError().message()));
  llvm::StringRef rest = (*file)->getBuffer();
  rest.consume_front("\xef\xbb\xbf"); // a byte order mark
  for (size_t number = 1; !rest.empty(); ++number) {
    const auto [line, others] = rest.split('\n');
    rest = others;
    std::string text = line.split('#').first.str();
    std::erase_if(text, [](char c) { return llvm::isSpace(c); });
    if (text.empty() || (number == 1 && llvm::StringRef(text).equals_insensitive("M,N,K")))
      continue;
    if (const Status added = add(text, shapes); !added)
      return user_error(fmt::format("{}:{}: {}", path, number, added.error().message), added.error().remedy);
  }
  return {};
}

Result<Shapes> shard_of(const Shapes &shapes, const std::string &shard) {
  const auto [index_text, count_text] = llvm::StringRef(shard).split('/');
  size_t index = 0, count = 0;
  if (index_text.getAsInteger(10, index) || count_text.getAsInteger(10, count) || index < 1 || index > count)
    return user_error(fmt::format("'{}' is no shard", shard), "--shard i/n has i from 1 to n");
  Shapes part;
  for (size_t i = index - 1; i < shapes.size(); i += count)
    part.push_back(shapes[i]);
  return part;
}

} // namespace

Result<Shapes> chosen_shapes(const ShapeOptions &options) {
  Shapes shapes;
  for (const std::string &shape : options.shapes)
    NEREID_CHECK(add(shape, shapes));
  if (!options.file.empty())
    NEREID_CHECK(add_file(options.file, shapes));
  if (shapes.empty())
    return user_error("there is no shape to tune for",
                      "Give --shape M,N,K, or --shapes FILE with a line a shape");
  return options.shard.empty() ? shapes : shard_of(shapes, options.shard);
}

} // namespace nereid::tools
