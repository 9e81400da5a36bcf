// Finds the kernel of each tile in a folder of code objects.
#include "tools/calibrate/objects.h"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/SHA256.h>

namespace nereid::calibrate {
namespace {

constexpr llvm::StringLiteral family = "f4gemm_bf16_per1x32Fp4_BpreShuffle_";

/// Paths of the code objects of a folder, in ascending order.
Result<std::vector<std::string>> list_objects(const std::string &folder) {
  std::vector<std::string> result;
  std::error_code failure;
  for (llvm::sys::fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure))
    if (llvm::sys::path::extension(entry->path()) == ".co")
      result.push_back(entry->path());
  if (failure)
    return user_error(fmt::format("cannot read the folder {}: {}", folder, failure.message()));
  std::sort(result.begin(), result.end());
  return result;
}

} // namespace

std::optional<Tile> tile_of_kernel(const std::string &name) {
  const size_t at = llvm::StringRef(name).find(family);
  if (at == llvm::StringRef::npos)
    return std::nullopt;
  llvm::StringRef rest = llvm::StringRef(name).substr(at + family.size());
  Tile tile;
  if (rest.consumeInteger(10, tile.m) || !rest.consume_front("x") || rest.consumeInteger(10, tile.n) ||
      tile.m == 0 || tile.n == 0)
    return std::nullopt;
  return tile;
}

Result<std::map<Tile, TileKernel>> find_tile_kernels(const std::string &folder) {
  NEREID_TRY(const std::vector<std::string> paths, list_objects(folder));
  std::map<Tile, TileKernel> result;
  for (const std::string &path : paths) {
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!file)
      return user_error(fmt::format("cannot read {}: {}", path, file.getError().message()));
    const llvm::StringRef bytes = (*file)->getBuffer();
    auto code = sim::CodeObject::load(std::as_bytes(std::span(bytes.data(), bytes.size())));
    if (!code)
      return user_error(fmt::format("{}: {}", path, code.error().message), code.error().remedy);
    for (const sim::KernelInfo &kernel : code->kernels()) {
      const std::optional<Tile> tile = tile_of_kernel(kernel.name);
      if (!tile)
        continue;
      const auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes));
      const TileKernel found{*code, kernel.name, llvm::toHex(digest, /*LowerCase=*/true)};
      if (!result.emplace(*tile, found).second)
        return user_error(fmt::format("{}: tile {} has a kernel already", path, tile->text()),
                          "keep one of the code objects");
    }
  }
  if (result.empty())
    return user_error(fmt::format("{} has no code object with a kernel *{}*", folder, family.str()),
                      "give the folder of aiter's f4gemm code objects for gfx950");
  return result;
}

} // namespace nereid::calibrate
