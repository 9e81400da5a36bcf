// After Triton's tutorial 4: dropout that stores no mask. An element is kept by a random number that is a
// function of a seed and of the element's place, so the backward pass can make it again. Each row has a seed.
#include <array>

#include "host.h"

using namespace nereid;

struct DropoutConfig {
  int block = 512;
  int waves = 2;
  NEREID_CONFIG(DropoutConfig, block, waves)
};

// y = x / (1 - p) where an element is kept, else 0. x and y [.., n], seeds one a row.
void dropout(const DropoutConfig &c, Ptr<const f32> x, Ptr<f32> y, Ptr<const i32> seeds, Int n, Float p) {
  Int row = program_id(1);
  Tile<i32> column = program_id(0) * c.block + arange(0, c.block);
  Tile<i1> in_bounds = column < n;
  Tile<f32> value = load(x + row * n + column, in_bounds);
  Tile<i1> keep = rand(load(seeds + row), column) > p;
  store(y + row * n + column, where(keep, value / (1.0F - p), 0.0F), in_bounds);
}

/// A number of [0, 1): Philox4x32-10 with the seed as key and the place as counter, on the host.
double random_number(uint32_t seed, uint32_t place) {
  std::array<uint32_t, 4> counter{place, 0, 0, 0};
  std::array<uint32_t, 2> key{seed, 0};
  for (int round = 0; round < 10; ++round) {
    const uint64_t even = uint64_t{0xD2511F53} * counter[0], odd = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(odd >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(odd),
               static_cast<uint32_t>(even >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(even)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  const uint32_t word = counter[0];
  return (word >> 31 ? ~word : word) * 0x1p-31;
}

Result<int> run(const Device &device) {
  const int m = 24, n = 1000;
  const float p = 0.3F;
  const std::vector<float> input = ports::uniform(m * n, 1);
  std::vector<int32_t> row_seeds;
  for (int row = 0; row < m; ++row)
    row_seeds.push_back(123 + 7 * row);
  NEREID_TRY(const Buffer<float> x, device.upload(input));
  NEREID_TRY(const Buffer<int32_t> seeds, device.upload(row_seeds));
  NEREID_TRY(const Buffer<float> y, device.allocate<float>(m * n));

  const DropoutConfig config;
  Kernel kernel("dropout", dropout);
  NEREID_CHECK(kernel(device.stream(), {cdiv(n, config.block), m}, config, x, y, seeds, n, p));

  std::vector<double> exact;
  int kept = 0;
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      const bool keep = random_number(row_seeds[row], column) > p;
      exact.push_back(keep ? input[row * n + column] / (1.0 - p) : 0.0);
      kept += keep;
    }
  NEREID_TRY(const std::vector<float> output, y.to_host());
  const bool share_is_right = std::fabs(static_cast<double>(kept) / (m * n) - (1 - p)) < 0.02;
  return ports::count_wrong(output, exact, 1e-6) + !share_is_right;
}

int main() {
  const Device device = Device::best();
  return ports::report("04_low_memory_dropout: 24 x 1000", device, run(device));
}
