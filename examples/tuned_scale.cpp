// Tunes a kernel of one's own over a generated space of configs, and finds the choice again in its table.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <nereid/nereid.h>

using namespace nereid;

struct ScaleConfig {
  int block = 1024;
  int waves = 4;
  NEREID_CONFIG(ScaleConfig, block, waves)
};

void scale(const ScaleConfig &c, Ptr<const f32> x, Ptr<f32> y, Int n) {
  Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  store(y + i, load(x + i, i < n) * 3.0F, i < n);
}

/// Where the tables are.
std::string directory() { return std::filesystem::temp_directory_path() / "nereid_tuned_scale"; }

Result<ScaleConfig> tuned(const Stream &stream, const Buffer<float> &x, const Buffer<float> &y, int n) {
  Kernel<scale> kernel([](const ScaleConfig &c, int n) { return Grid{cdiv(n, c.block)}; });
  ConfigSpace<ScaleConfig> space;
  space.axis("block", {256, 1024, 4096}).axis("waves", {1, 4});
  TuneRequest request{.kernel = "scale", .key = tuning_key({{"n", n}})};
  NEREID_TRY(const std::vector<ScaleConfig> configs, space.configs());
  for (const ScaleConfig &config : configs)
    request.candidates.push_back(candidate(kernel, stream, config, x, y, n));
  request.validate = [&]() -> Status {
    NEREID_TRY(const std::vector<float> result, y.to_host());
    return result == std::vector<float>(n, 6.0F) ? Status() : user_error("an element is not 6");
  };
  NEREID_TRY(const TuneReport report, tune(request, stream, {.table = directory()}));
  std::printf("%s", report.text().c_str());
  return report.best<ScaleConfig>();
}

int main() {
  const int n = 100'000;
  Device device = Device::best();
  Buffer<float> x = device.upload(std::vector<float>(n, 2.0F)).value();
  Buffer<float> y = device.allocate<float>(n).value();
  Result<ScaleConfig> best = tuned(device.stream(), x, y, n);
  Result<TuningTable> table = TuningTable::load(directory(), device.name());
  if (!best || !table) {
    std::fprintf(stderr, "%s\n", (best ? table.error() : best.error()).text().c_str());
    return 1;
  }
  const TuningTable::Choice *choice = table->lookup("scale", tuning_key({{"n", n}}));
  const bool found = choice && choice->config == config_text(*best);
  std::printf("tuned_scale: %d elements on %s, %s\n", n, device.name().c_str(),
              found ? "found again" : "NOT FOUND");
  return found ? 0 : 1;
}
