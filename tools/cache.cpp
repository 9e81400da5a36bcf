// nereid cache: what is in the cache of compiled kernels, and taking it to another machine.
#include <fmt/format.h>

#include "base/output_file.h"
#include "jit/cache/bundle.h"
#include "jit/cache/cache_contents.h"
#include "tools/command.h"
#include "tools/files.h"

namespace nereid::tools {
namespace {

constexpr const char *cache_footer =
    R"(The directory is that of NEREID_CACHE_DIR, else $XDG_CACHE_HOME/nereid, else ~/.cache/nereid.

Examples:
  nereid cache stat
  nereid cache verify --remove
  nereid cache export kernels.bundle
  NEREID_CACHE_DIR=/opt/kernels nereid cache import kernels.bundle)";

/// The cache of the environment. Error (User): it is off.
Result<jit::DiskCache> enabled_cache() {
  NEREID_TRY(jit::DiskCache cache, jit::DiskCache::from_environment());
  if (!cache.enabled())
    return user_error("the cache is off", "NEREID_CACHE_DIR names its directory");
  return cache;
}

llvm::json::Object directory_json(const jit::DiskCache &cache) {
  return llvm::json::Object{{"directory", json_string(cache.directory())}};
}

Outcome stat() {
  NEREID_TRY(const jit::DiskCache cache, jit::DiskCache::from_environment());
  Outcome outcome;
  outcome.json = directory_json(cache);
  outcome.json["enabled"] = cache.enabled();
  outcome.json["bound"] = cache.bytes();
  if (!cache.enabled()) {
    outcome.text = "the cache is off\n";
    return outcome;
  }
  NEREID_TRY(const jit::CacheContents contents, jit::read_contents(cache));
  outcome.json["kernels"] = contents.kernels.size();
  outcome.json["bytes"] = contents.bytes;
  outcome.json["damaged"] = contents.damaged();
  outcome.json["stale"] = contents.stale();
  outcome.json["unfinished"] = contents.unfinished;
  outcome.text = fmt::format("{}\n  {} kernels in {} bytes of {}\n  {} damaged, {} stale, {} unfinished\n",
                             cache.directory(), contents.kernels.size(), contents.bytes, cache.bytes(),
                             contents.damaged(), contents.stale(), contents.unfinished);
  return outcome;
}

/// What to do about entries of another version, a line; nothing when there are none.
std::string stale_text(uint64_t count) {
  if (count == 0)
    return "";
  return fmt::format("{} of another version of Nereid, harmless: the bound of the cache evicts them; "
                     "`nereid cache verify --remove` removes them, `nereid cache clear` all kernels\n",
                     count);
}

struct VerifyOptions {
  bool remove = false, verbose = false;
};

Outcome verify(const VerifyOptions &options) {
  NEREID_TRY(const jit::DiskCache cache, enabled_cache());
  NEREID_TRY(const jit::CacheContents contents, jit::read_contents(cache));
  Outcome outcome;
  llvm::json::Array damaged, stale;
  for (const jit::CacheEntry &entry : contents.kernels) {
    if (entry.problem.empty())
      continue;
    (entry.is_stale ? stale : damaged)
        .push_back(llvm::json::Object{{"file", json_string(cache.path(entry.key))},
                                      {"problem", json_string(entry.problem)}});
    if (!entry.is_stale || options.verbose)
      outcome.text += fmt::format("{}: {}\n", cache.path(entry.key), entry.problem);
  }
  outcome.text += fmt::format("{} kernels, {} damaged, {} stale\n", contents.kernels.size(),
                              contents.damaged(), contents.stale());
  outcome.json = directory_json(cache);
  outcome.json["kernels"] = contents.kernels.size();
  outcome.json["damaged"] = std::move(damaged);
  outcome.json["stale"] = std::move(stale);
  if (options.remove) {
    NEREID_TRY(const jit::Removed removed, jit::remove_unusable(cache, contents));
    outcome.json["removed"] = removed.files;
    outcome.text += fmt::format("{} removed\n", removed.files);
  } else {
    outcome.text += stale_text(contents.stale());
    outcome.code = contents.damaged() != 0 ? ExitCode::Wrong : ExitCode::Right;
  }
  return outcome;
}

Outcome clear() {
  NEREID_TRY(const jit::DiskCache cache, enabled_cache());
  NEREID_TRY(const jit::Removed removed, jit::remove_kernels(cache));
  Outcome outcome;
  outcome.json = directory_json(cache);
  outcome.json["removed"] = removed.files;
  outcome.json["bytes"] = removed.bytes;
  outcome.text =
      fmt::format("{}: {} files with {} bytes removed\n", cache.directory(), removed.files, removed.bytes);
  return outcome;
}

Outcome export_bundle(const std::string &path) {
  NEREID_TRY(const jit::DiskCache cache, enabled_cache());
  NEREID_TRY(const jit::KernelFiles kernels, jit::kernel_files(cache));
  if (kernels.empty())
    return user_error(fmt::format("there is no kernel in {}", cache.directory()),
                      "Run what you want to take along; NEREID_CACHE_DIR names the directory");
  std::vector<NamedFile> entries;
  for (const auto &[key, file] : kernels)
    entries.push_back({"the cache's entry", cache.path(key)});
  const NamedFile output[] = {{"the bundle", path}};
  NEREID_CHECK(check_outputs(output, entries));
  const std::string bytes = jit::bundle(kernels);
  NEREID_CHECK(write_file(path, bytes));
  Outcome outcome;
  outcome.json = directory_json(cache);
  outcome.json["file"] = json_string(path);
  outcome.json["kernels"] = kernels.size();
  outcome.json["bytes"] = bytes.size();
  outcome.text = fmt::format("{}: {} kernels in {} bytes\n", path, kernels.size(), bytes.size());
  return outcome;
}

/// The bytes of a bundle, of which no more are read than the cache could take. Error (User): it is none, or
/// too large.
Result<std::vector<uint8_t>> read_bundle_file(const std::string &path, const jit::DiskCache &cache) {
  NEREID_TRY(const uint64_t size, file_size(path, "a bundle"));
  NEREID_TRY(const std::vector<uint8_t> start, read_start(path, jit::bundle_start_bytes));
  if (const Status bundle =
          jit::check_is_bundle({reinterpret_cast<const char *>(start.data()), start.size()});
      !bundle)
    return user_error(fmt::format("{}: {}", path, bundle.error().message), bundle.error().remedy);
  // Keys and lengths come on top of the kernels' files, and are smaller than these.
  if (size / 2 > cache.bytes())
    return user_error(fmt::format("{} has {} bytes, the cache may hold {}", path, size, cache.bytes()),
                      "Set NEREID_CACHE_BYTES to more");
  return read_file(path, "a bundle");
}

Outcome import_bundle(const std::string &path) {
  NEREID_TRY(const jit::DiskCache cache, enabled_cache());
  NEREID_TRY(const std::vector<uint8_t> bytes, read_bundle_file(path, cache));
  Result<jit::KernelFiles> kernels =
      jit::read_bundle({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  if (!kernels)
    return user_error(fmt::format("{}: {}", path, kernels.error().message), kernels.error().remedy);
  NEREID_CHECK(cache.check_trust());
  NEREID_TRY(const jit::Imported imported, jit::import_kernels(cache, *kernels));
  Outcome outcome;
  outcome.json = directory_json(cache);
  outcome.json["file"] = json_string(path);
  outcome.json["stored"] = imported.stored;
  outcome.json["present"] = imported.present;
  outcome.text = fmt::format("{}: {} kernels stored, {} were there\n", cache.directory(), imported.stored,
                             imported.present);
  return outcome;
}

} // namespace

void add_cache(Subcommand app, Invocation &invocation) {
  Subcommand group = app.group("cache", "Look at the cache of compiled kernels, check, empty or move it");
  group.footer(cache_footer);
  add_command(group, invocation, "stat", "Count the kernels in the cache and their bytes", stat);
  auto options = std::make_shared<VerifyOptions>();
  Subcommand verifying =
      add_command(group, invocation, "verify", "Read every kernel; a damaged one is exit code 1",
                  [options] { return verify(*options); });
  verifying.flag("--remove", options->remove, "Remove what is damaged or of another version");
  verifying.flag("--verbose", options->verbose, "Name each kernel of another version");
  add_command(group, invocation, "clear", "Remove all kernels", clear);
  auto path = std::make_shared<std::string>();
  add_command(group, invocation, "export", "Write all kernels to one file, for another machine",
              [path] { return export_bundle(*path); })
      .option("FILE", *path, "The bundle to write")
      .required();
  add_command(group, invocation, "import", "Store the kernels of a bundle, after checking each",
              [path] { return import_bundle(*path); })
      .option("FILE", *path, "The bundle")
      .required();
}

} // namespace nereid::tools
