// Measurements that a model made up.
#include "tests/calibrate/synthetic.h"

#include "tools/calibrate/samples.h"

namespace nereid::calibrate::test {

std::vector<Sample> synthetic_samples(const sim::DeviceModel &model) {
  const std::pair<size_t, size_t> pairs[] = {{1024, 3072},  {2112, 7168},   {4096, 512},   {8192, 8192},
                                             {7168, 18432}, {57344, 8192},  {16384, 2048}, {5120, 1280},
                                             {3072, 6144},  {16384, 53248}, {256, 19968}};
  const Tile tiles[] = {{32, 128}, {128, 128}, {96, 256}, {256, 256}};
  std::vector<Sample> samples;
  for (const auto &[n, k] : pairs)
    for (const size_t m : {1, 16, 100, 1024, 16384})
      for (const Tile &tile : tiles) {
        Sample sample;
        sample.measured.shape = {m, n, k};
        sample.measured.tile = tile;
        sample.measured.early = samples.size() % 3 == 0;
        sample.profile = counted_profile({tile, sample.measured.shape}).value();
        sample.measured.us = predicted_us(sample, model);
        samples.push_back(sample);
      }
  return samples;
}

} // namespace nereid::calibrate::test
