// From a traced kernel to its binary: the disk cache, else the compiler.
#include "jit/build.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/log.h"
#include "base/progress.h"
#include "codegen/target/gfx950.h"
#include "dsl/ir/printer.h"
#include "jit/cache/compile_once.h"
#include "jit/cache/key.h"
#include "jit/cache/precompiled.h"
#include "jit/compile/compiler.h"
#include "jit/compile/identity.h"
#include "jit/compile/large_stack.h"
#include "jit/compile/stopwatch.h"
#include "jit/dump.h"
#include "jit/isolated_compile.h"
#include "jit/override.h"
#include "jit/verify/compile_and_verify.h"

namespace nereid::jit {
namespace {

/// Compiles, in a process of its own where there is a bound of seconds; what does not compile is dumped when
/// asked.
Result<Binary> compile(const Compiler &compiler, const ir::Function &function, std::string_view key,
                       std::optional<double> seconds, JitTimes &times) {
  const auto compile_here = [&](JitTimes &spent) { return compile_and_verify(compiler, function, spent); };
  Result<Binary> compiled =
      seconds ? compile_isolated(function.name, *seconds, compile_here, times) : compile_here(times);
  if (!compiled)
    dump_failed_if_asked(function, key);
  return compiled;
}

Obtained obtained(Binary binary, CacheLevel level) {
  return {std::make_shared<const Binary>(std::move(binary)), level};
}

/// Says so where an edited file is taken for a kernel.
Result<std::optional<Override>> find_override_if_asked(const ir::Function &function, std::string_view key,
                                                       const Compiler &compiler, const DiskCache &disk) {
  if (!overrides_asked_for())
    return std::optional<Override>();
  NEREID_TRY(std::optional<Override> edited,
             on_large_stack([&] { return find_override(function, key, compiler, disk); }));
  if (edited)
    log(LogLevel::Warning, fmt::format("kernel '{}': {} is taken in place of what the compiler makes",
                                       function.name, edited->file));
  return edited;
}

/// More waves help as far as lanes share a tile, which is the power of two in its size.
std::string remedy_for_spills(const ir::Function &function) {
  constexpr int64_t many_bytes = 128; // of a lane
  const int64_t threads = int64_t{codegen::gfx950::lanes} * function.options.waves;
  std::string remedy = "Use smaller tiles or more waves";
  int64_t most = many_bytes;
  for (const ir::Type &type : function.value_types) {
    ir::Type padded = type;
    int64_t odd = 1;
    for (int64_t &size : padded.shape) {
      odd *= size >> std::countr_zero(static_cast<uint64_t>(size));
      size = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size)));
    }
    const int64_t held = odd * std::max<int64_t>(1, type.count() / odd / threads);
    const int64_t bytes = held * (type.pointer ? 8 : ir::byte_size(type.element));
    if (held < 2 * std::max<int64_t>(1, padded.count() / threads) || bytes <= most)
      continue;
    most = bytes;
    remedy =
        fmt::format("Use {} and a mask in place of {}: each lane holds all of the odd factor {}, however "
                    "many waves there are",
                    padded.text(), type.text(), odd);
  }
  return remedy;
}

} // namespace

Status check_spills(const ir::Function &function, const Resources &resources) {
  constexpr unsigned max_scratch = 4096;
  if (resources.scratch <= max_scratch)
    return {};
  return user_error(
      fmt::format("kernel '{}': its tiles take {} bytes of scratch a lane beyond the registers; up "
                  "to {} are compiled right",
                  function.name, resources.scratch, max_scratch),
      remedy_for_spills(function));
}

Result<std::shared_ptr<const CompiledKernel>> build_kernel(BuildRequest request, const DiskCache &disk) {
  auto finish = [&](std::shared_ptr<const Binary> binary, std::string key, CacheLevel level) {
    return std::make_shared<const CompiledKernel>(request.function, request.config, std::move(binary),
                                                  std::move(key), request.times, level);
  };
  if (!request.code)
    return finish(nullptr, "", CacheLevel::None);

  NEREID_TRY(const Compiler *compiler, chosen_compiler());
  // A bad value is refused whether or not a cache has the kernel.
  NEREID_TRY(const std::optional<double> seconds, compile_timeout());
  Stopwatch watch;
  const std::string specialization = text(request.facts);
  const std::string key = hash_key({ir::print(*request.function), request.config, specialization, target_isa,
                                    compiler->identity(), nereid_identity()});
  request.times.passes += watch.milliseconds();

  const auto ready = [&](const Obtained &code, const std::string &own_key) {
    auto kernel = finish(code.binary, own_key, code.level);
    dump_if_asked(*kernel);
    return kernel;
  };
  NEREID_TRY(const std::optional<Override> edited,
             find_override_if_asked(*request.function, key, *compiler, disk));
  if (edited) {
    NEREID_TRY(OverriddenKernel kernel, on_large_stack([&] {
                 return build_override(*edited, request.function, *compiler, request.times);
               }));
    NEREID_CHECK(check_spills(*request.function, kernel.binary.resources));
    request.function = std::move(kernel.function);
    return ready(obtained(std::move(kernel.binary), CacheLevel::None), override_key(key, *edited));
  }
  if (std::optional<Binary> handed = PrecompiledKernels::find(key))
    return ready(obtained(std::move(*handed), CacheLevel::None), key);
  const auto find_or_compile = [&]() -> Result<Obtained> {
    if (std::optional<Binary> found = disk.find(key)) {
      log(LogLevel::Info, fmt::format("kernel '{}': read from the cache", request.function->name));
      return obtained(std::move(*found), CacheLevel::Disk);
    }
    watch.restart();
    NEREID_TRY(Binary compiled, on_large_stack([&] {
                 const ProgressClock progress(fmt::format("compiling kernel '{}'", request.function->name));
                 return compile(*compiler, *request.function, key, seconds, request.times);
               }));
    log(LogLevel::Info,
        fmt::format("kernel '{}': compiled in {:.0f} ms", request.function->name, watch.milliseconds()));
    NEREID_CHECK(check_spills(*request.function, compiled.resources));
    disk.try_store(key, {request.function->name, request.config, specialization}, compiled);
    return obtained(std::move(compiled), CacheLevel::None);
  };
  NEREID_TRY(const Obtained code, obtain_once(key, find_or_compile));
  return ready(code, key);
}

} // namespace nereid::jit
