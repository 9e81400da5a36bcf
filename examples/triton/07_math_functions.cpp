// After Triton's tutorial 7, which calls functions of a device library: here the language has them (asin),
// what it lacks is a C++ function over those it has (degrees), and an instruction of the machine is inline
// assembly (bit reversal).
#include <bit>
#include <numbers>

#include "host.h"

using namespace nereid;

struct Config {
  int block = 1024;
  int waves = 4;
  NEREID_CONFIG(Config, block, waves)
};

constexpr double degrees_of_one = 180 / std::numbers::pi;
Tile<f32> degrees(const Tile<f32> &radians) { return radians * degrees_of_one; }

/// The bits of a word in reverse order, on the host.
uint32_t reversed(uint32_t word) {
  uint32_t result = 0;
  for (int bit = 0; bit < 32; ++bit)
    result |= (word >> bit & 1) << (31 - bit);
  return result;
}

/// The instruction, and for the interpreter its meaning.
Tile<u32> bit_reverse(const Tile<u32> &x) {
  return inline_asm<u32>("v_bfrev_b32 $0, $1", "=v,v", reversed, x);
}

void math(const Config &c, Ptr<const f32> x, Ptr<f32> angle, Ptr<u32> bits, Int n) {
  Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  Tile<i1> in_bounds = i < n;
  Tile<f32> value = load(x + i, in_bounds);
  store(angle + i, degrees(asin(value)), in_bounds);
  store(bits + i, bit_reverse(bitcast<u32>(value)), in_bounds);
}

Result<int> run(const Device &device) {
  const int n = 20'000;
  const std::vector<float> input = ports::uniform(n, 1);
  NEREID_TRY(const Buffer<float> x, device.upload(input));
  NEREID_TRY(const Buffer<float> angle, device.allocate<float>(n));
  NEREID_TRY(const Buffer<uint32_t> bits, device.allocate<uint32_t>(n));

  const Config config;
  Kernel<math> kernel;
  NEREID_CHECK(kernel(device.stream(), {cdiv(n, config.block)}, config, x, angle, bits, n));

  NEREID_TRY(const std::vector<float> angles, angle.to_host());
  NEREID_TRY(const std::vector<uint32_t> words, bits.to_host());
  std::vector<double> exact;
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    exact.push_back(std::asin(double{input[i]}) * degrees_of_one);
    wrong += words[i] != reversed(std::bit_cast<uint32_t>(input[i]));
  }
  return wrong + ports::count_wrong(angles, exact, 5e-7);
}

int main() {
  const Device device = Device::best();
  return ports::report("07_math_functions: 20000 elements", device, run(device));
}
