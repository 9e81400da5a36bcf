// The JSON of launches and kernels.
#include "tools/launch_json.h"

#include <cmath>

#include <fmt/format.h>

#include "tools/outcome.h"

namespace nereid::tools {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

Object config_json(const std::vector<ConfigValue> &config) {
  Value json = llvm::cantFail(llvm::json::parse(nereid::config_json(std::span<const ConfigValue>(config))));
  return std::move(*json.getAsObject());
}

Object jit_json(const JitTimes &times) {
  Object object;
  for (const StageTime &stage : jit_stages)
    object[stage.name] = times.*stage.member;
  return object;
}

Object launch_json(const kernels::LaunchRecord &record) {
  const LaunchInfo &info = record.info;
  const auto block = info.block();
  Object object{{"kernel", llvm::StringRef(info.kernel()).str()},
                {"config", config_json(record.config)},
                {"grid", Array{info.grid.x, info.grid.y, info.grid.z}},
                {"block", Array{block[0], block[1], block[2]}},
                {"jit_ms", jit_json(info.jit)},
                {"cache", llvm::StringRef(name_of(info.cache)).str()},
                {"resources", jit::resources_json(info.resources())}};
  if (const std::string file = info.override_file(); !file.empty())
    object["override"] = json_string(file);
  if (info.instructions)
    object["instructions"] = instructions_json(*info.instructions);
  return object;
}

llvm::json::Value max_error_json(const kernels::host::Comparison &comparison) {
  // JSON has no infinity.
  return std::isfinite(comparison.max_error) ? llvm::json::Value(comparison.max_error) : nullptr;
}

Array launches_json(const std::vector<kernels::LaunchRecord> &records) {
  Array array;
  for (const kernels::LaunchRecord &record : records)
    array.push_back(launch_json(record));
  return array;
}

std::string launch_text(const kernels::LaunchRecord &record) {
  const LaunchInfo &info = record.info;
  std::string text =
      fmt::format("{} {} grid {}x{}x{} jit {:.1f} ms ({})", info.kernel(), config_text(record.config),
                  info.grid.x, info.grid.y, info.grid.z, info.jit.total(), name_of(info.cache));
  if (info.instructions)
    text += fmt::format(", {} instructions", info.instructions->total);
  return text;
}

} // namespace nereid::tools
