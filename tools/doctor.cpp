// nereid doctor: compilers, devices and the cache of this machine.
#include <fmt/format.h>

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

std::string line_text(const Line &line) {
  return fmt::format("  {:<10} {:<9} {}{}\n", line.name, line.available ? "yes" : "no", line.detail,
                     line.chosen ? " (chosen)" : "");
}

llvm::json::Object line_json(const Line &line) {
  return llvm::json::Object{
      {"name", line.name}, {"available", line.available}, {"chosen", line.chosen}, {"detail", line.detail}};
}

void add_section(Outcome &outcome, const std::string &key, const std::vector<Line> &lines) {
  llvm::json::Array array;
  outcome.text += key + "\n";
  for (const Line &line : lines) {
    outcome.text += line_text(line);
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

void add_cache(Outcome &outcome) {
  const auto cache = jit::DiskCache::from_environment();
  if (!cache) {
    outcome.text += fmt::format("cache\n  no kernel will compile: {}\n", cache.error().text());
    outcome.json["cache_error"] = json_string(cache.error().text());
    return;
  }
  outcome.text += fmt::format("cache\n  {}\n", cache->enabled() ? cache->directory() : "off");
  outcome.json["cache"] =
      llvm::json::Object{{"enabled", cache->enabled()}, {"directory", json_string(cache->directory())}};
  if (const Status trusted = cache->check_trust(); !trusted) {
    outcome.text += fmt::format("  {}\n", trusted.error().text());
    outcome.json["cache_error"] = json_string(trusted.error().text());
  }
}

Outcome run() {
  Outcome outcome;
  outcome.text = fmt::format("nereid {}\n", version);
  outcome.json["version"] = version;
  add_section(outcome, "compilers", compiler_lines());
  if (const auto compiler = jit::chosen_compiler(); !compiler) {
    outcome.text += fmt::format("  no kernel will compile: {}\n", compiler.error().text());
    outcome.json["compiler_error"] = json_string(compiler.error().text());
  }
  add_section(outcome, "devices", device_lines());
  add_cache(outcome);
  return outcome;
}

} // namespace

void add_doctor(CLI::App &app, Invocation &invocation) {
  add_command(app, invocation, "doctor", "Show compilers, devices and the cache, and why each is as it is",
              [] { return run(); });
}

} // namespace nereid::tools
