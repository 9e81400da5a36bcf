// nereid doctor: compilers, devices and the cache of this machine.
#include <fmt/format.h>

#include "jit/cache/cache_contents.h"
#include "jit/cache/disk_cache.h"
#include "jit/compile/compiler.h"
#include "jit/device/device.h"
#include "tools/command.h"
#include "tools/version.h"

namespace nereid::tools {
namespace {

/// One line about something that may or may not be there.
struct Line {
  std::string name;
  bool available;
  bool chosen;
  std::string detail;
};

/// One line; with its reason where that was asked for.
std::string line_text(const Line &line, bool verbose) {
  const std::string reason = verbose ? fmt::format(" {}", line.detail) : "";
  return fmt::format("  {:<10} {}{}{}\n", line.name, line.available ? "yes" : "no",
                     line.chosen ? " (chosen)" : "", reason);
}

llvm::json::Object line_json(const Line &line) {
  return llvm::json::Object{
      {"name", line.name}, {"available", line.available}, {"chosen", line.chosen}, {"detail", line.detail}};
}

void add_section(Outcome &outcome, const std::string &key, const std::vector<Line> &lines, bool verbose) {
  llvm::json::Array array;
  outcome.text += key + "\n";
  for (const Line &line : lines) {
    outcome.text += line_text(line, verbose);
    array.push_back(line_json(line));
  }
  outcome.json[key] = std::move(array);
}

std::vector<Line> compiler_lines() {
  std::vector<Line> lines;
  for (const CompilerAvailability &compiler : compilers())
    lines.push_back({compiler.name, compiler.available, compiler.chosen, compiler.detail});
  return lines;
}

std::vector<Line> device_lines() {
  std::vector<Line> lines;
  const std::string_view best = Device::best().kind_name();
  for (const DeviceAvailability &device : devices())
    lines.push_back({device.name, device.available, device.name == best, device.detail});
  return lines;
}

/// What is wrong with the cache and what to do about it, always said.
void add_cache_problem(Outcome &outcome, const Error &error) {
  outcome.text += fmt::format("  {}\n", error.text());
  outcome.json["cache_error"] = json_string(error.text());
}

/// How full the cache is, what in it is of no use, and what removes that.
void add_cache_health(Outcome &outcome, llvm::json::Object &object, const jit::DiskCache &cache) {
  const Result<jit::CacheContents> contents = jit::read_contents(cache);
  if (!contents)
    return add_cache_problem(outcome, contents.error());
  object["kernels"] = contents->kernels.size();
  object["bytes"] = contents->bytes;
  object["bound"] = cache.bytes();
  object["damaged"] = contents->damaged();
  object["stale"] = contents->stale();
  object["unfinished"] = contents->unfinished;
  constexpr double mebibyte = 1 << 20;
  outcome.text += fmt::format("  {} kernels, {:.1f} of {:.1f} MiB\n", contents->kernels.size(),
                              contents->bytes / mebibyte, cache.bytes() / mebibyte);
  if (contents->damaged() != 0)
    outcome.text +=
        fmt::format("  {} damaged: `nereid cache verify --remove` removes them\n", contents->damaged());
  if (contents->stale() != 0)
    outcome.text += fmt::format("  {} of another version of Nereid, harmless: `nereid cache verify --remove` "
                                "removes them\n",
                                contents->stale());
}

void add_cache(Outcome &outcome) {
  const auto cache = jit::DiskCache::from_environment();
  if (!cache) {
    outcome.text += fmt::format("cache\n  no kernel will compile: {}\n", cache.error().text());
    outcome.json["cache_error"] = json_string(cache.error().text());
    return;
  }
  outcome.text += fmt::format("cache\n  {}\n", cache->enabled() ? cache->directory() : "off");
  llvm::json::Object object{{"enabled", cache->enabled()}, {"directory", json_string(cache->directory())}};
  if (const Status trusted = cache->check_trust(); !trusted)
    add_cache_problem(outcome, trusted.error());
  else if (cache->enabled())
    add_cache_health(outcome, object, *cache);
  outcome.json["cache"] = std::move(object);
}

Outcome run(bool verbose) {
  Outcome outcome;
  outcome.text = fmt::format("nereid {}\n", version);
  outcome.json["version"] = version;
  add_section(outcome, "compilers", compiler_lines(), verbose);
  if (const auto compiler = jit::chosen_compiler(); !compiler) {
    outcome.text += fmt::format("  no kernel will compile: {}\n", compiler.error().text());
    outcome.json["compiler_error"] = json_string(compiler.error().text());
  }
  add_section(outcome, "devices", device_lines(), verbose);
  add_cache(outcome);
  return outcome;
}

} // namespace

void add_doctor(Subcommand app, Invocation &invocation) {
  auto verbose = std::make_shared<bool>(false);
  add_command(app, invocation, "doctor",
              "Show compilers, devices and the health of the cache; --verbose: why each is as it is",
              [verbose] { return run(*verbose); })
      .flag("--verbose", *verbose, "Versions, and why what is not there is not");
}

} // namespace nereid::tools
