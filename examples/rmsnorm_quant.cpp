// RMSNorm and MXFP4 quantisation in one pass: the input of a product of the next layer, without a normalised
// copy in memory. (The library's rmsnorm_quant also adds a residual and writes shuffled scales.)
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <nereid/nereid.h>

using namespace nereid;

struct RmsNormConfig {
  int block = 1024; // a power of two, at least a row's length
  int waves = 2;
  NEREID_CONFIG(RmsNormConfig, block, waves)
};

// y = x w / sqrt(mean(x^2) + epsilon) of each row. x bf16 [.., k], w bf16 [k], codes u8 [.., k/2] with the
// even value in the low half, scales u8 [.., k/32]; k is a multiple of 32.
void rmsnorm_quant(const RmsNormConfig &c, Ptr<const bf16> x, Ptr<const bf16> w, Ptr<u8> codes,
                   Ptr<u8> scales, Int k, Float epsilon) {
  Int row = program_id(0);
  Tile<i32> column = arange(0, c.block);
  Tile<f32> value = load(x + row * k + column, column < k).to<f32>();
  Tile<f32> weight = load(w + column, column < k).to<f32>();
  Float mean_square = sum(value * value, axis(0)) / k.to<f32>();
  Quantized q = quantize(value * rsqrt(mean_square + epsilon) * weight, e2m1);

  Tile<i32> byte = arange(0, c.block / 2);
  Tile<i32> group = arange(0, c.block / 32);
  store(codes + row * (k / 2) + byte, q.codes, byte < k / 2);
  store(scales + row * (k / 32) + group, q.scales, group < k / 32);
}

/// How far a code may be from the value that it stands for, both in units of the scale: half the distance
/// between neighbours of 0, 0.5, 1, 1.5, 2, 3, 4, 6; values beyond 6 are at most 7.
double half_step(double value) {
  const double magnitude = std::fabs(value);
  return magnitude <= 2 ? 0.25 : magnitude <= 4 ? 0.5 : 1;
}

Result<int> run(const Device &device) {
  const int m = 20, k = 800;
  const float epsilon = 1e-6F;
  std::vector<bf16> x(m * k), w(k);
  for (int i = 0; i < m * k; ++i)
    x[i] = bf16(3.0F * std::sin(0.37F * static_cast<float>(i)) * std::cos(0.011F * static_cast<float>(i)));
  for (int i = 0; i < k; ++i)
    w[i] = bf16(1.0F + 0.5F * std::sin(static_cast<float>(i)));
  NEREID_TRY(const Buffer<bf16> x_buffer, device.upload(x));
  NEREID_TRY(const Buffer<bf16> w_buffer, device.upload(w));
  NEREID_TRY(const Buffer<uint8_t> code_buffer, device.allocate<uint8_t>(m * k / 2));
  NEREID_TRY(const Buffer<uint8_t> scale_buffer, device.allocate<uint8_t>(m * k / 32));

  Kernel kernel("rmsnorm_quant", rmsnorm_quant);
  NEREID_CHECK(kernel(device.stream(), {m}, {}, x_buffer, w_buffer, code_buffer, scale_buffer, k, epsilon));

  NEREID_TRY(const std::vector<uint8_t> codes, code_buffer.to_host());
  NEREID_TRY(const std::vector<uint8_t> scales, scale_buffer.to_host());
  const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  int wrong = 0;
  for (int row = 0; row < m; ++row) {
    double mean_square = 0;
    for (int i = 0; i < k; ++i)
      mean_square += std::pow(double{float(x[row * k + i])}, 2) / k;
    for (int i = 0; i < k; ++i) {
      const int at = row * k + i;
      const double exact = float(x[at]) * double{float(w[i])} / std::sqrt(mean_square + epsilon);
      const double value = std::ldexp(exact, 127 - scales[at / 32]); // in units of its scale
      const int code = codes[at / 2] >> (4 * (at % 2)) & 15;
      const double quantised = code & 8 ? -magnitudes[code & 7] : magnitudes[code];
      wrong += std::fabs(quantised - value) > half_step(value) + 1e-4 || std::fabs(value) > 7 + 1e-4;
    }
  }
  return wrong;
}

int main() {
  const Device device = Device::best();
  const Result<int> wrong = run(device);
  if (!wrong) {
    std::fprintf(stderr, "%s\n", wrong.error().text().c_str());
    return 1;
  }
  std::printf("rmsnorm_quant: 20 x 800 on %s, %d wrong\n", device.name().c_str(), *wrong);
  return *wrong == 0 ? 0 : 1;
}
