// After Triton's tutorial 6: attention, forward. A program owns block_m queries of a head and goes over the
// keys: scores and weights are never written to memory (FlashAttention 2: Dao
// 2023). The causal form takes the keys before the diagonal without a mask, those on it with one.
#include <limits>
#include <numbers>

#include "host.h"

using namespace nereid;

struct AttentionConfig {
  int block_m = 64; // queries
  int block_n = 64; // keys at a time; divides block_m
  int d = 64;       // features of a head
  bool causal = false;
  int waves = 4;
  NEREID_CONFIG(AttentionConfig, block_m, block_n, d, causal, waves)
};

// q, k, v, out f16 [heads, n, d]; lse f32 [heads, n]: the logarithm to base 2 of each query's sum of weights.
void attention(const AttentionConfig &c, Ptr<const f16> q, Ptr<const f16> k, Ptr<const f16> v, Ptr<f16> out,
               Ptr<f32> lse, Int n, Float scale) {
  static_check(c.block_m % c.block_n == 0, "block_n divides block_m");
  Int first = program_id(0) * c.block_m;
  Long head = Long(program_id(1)) * n * c.d;
  Tile<i32> query_row = first + rows(c.block_m);
  Tile<i32> feature = cols(c.d);
  Tile<f16> query = load(q + head + (query_row * c.d + feature), query_row < n);

  // Weights are powers of 2, which cost less than those of e: log2(e) goes into the scale.
  Float scale_2 = scale * static_cast<float>(std::numbers::log2e);
  Var maximum = full<f32>({c.block_m, 1}, -std::numeric_limits<float>::infinity());
  Var total = zeros<f32>({c.block_m, 1});
  Var sum_of_values = zeros<f32>({c.block_m, c.d});
  auto attend = [&](const Int &first_key, bool masked) {
    Tile<i32> key_row = first_key + rows(c.block_n);
    Tile<f16> keys = load(k + head + (key_row * c.d + feature), key_row < n);
    Tile<f16> values = load(v + head + (key_row * c.d + feature), key_row < n);
    Tile<i32> key = first_key + cols(c.block_n);
    Tile<f32> product = dot(query, trans(keys)) * scale_2;
    Tile<f32> score = masked ? where(c.causal ? key <= query_row : key < n, product,
                                     -std::numeric_limits<float>::infinity())
                             : product;
    Tile<f32> new_maximum = max(maximum, max(score, keep_axis(1)));
    Tile<f32> weight = exp2(score - new_maximum);
    Tile<f32> correction = exp2(maximum - new_maximum);
    total = total * correction + sum(weight, keep_axis(1));
    sum_of_values = sum_of_values * correction + dot(weight.to<f16>(), values);
    maximum = new_maximum;
  };
  Int unmasked = c.causal ? first : n / c.block_n * c.block_n;
  Int last = c.causal ? min(n, first + c.block_m) : n;
  for (Int first_key : range(0, unmasked, c.block_n))
    attend(first_key, false);
  for (Int first_key : range(unmasked, last, c.block_n))
    attend(first_key, true);

  store(out + head + (query_row * c.d + feature), (sum_of_values / total).to<f16>(), query_row < n);
  store(lse + program_id(1) * n + query_row, maximum + log2(total), query_row < n);
}

Result<int> run(const Device &device, bool causal) {
  const AttentionConfig config{.causal = causal};
  const int heads = 2, n = 200, d = config.d;
  const float scale = 0.5F;
  const std::vector<f16> q = ports::uniform<f16>(heads * n * d, 1), k = ports::uniform<f16>(heads * n * d, 2),
                         v = ports::uniform<f16>(heads * n * d, 3);
  NEREID_TRY(const Buffer<f16> q_buffer, device.upload(q));
  NEREID_TRY(const Buffer<f16> k_buffer, device.upload(k));
  NEREID_TRY(const Buffer<f16> v_buffer, device.upload(v));
  NEREID_TRY(const Buffer<f16> out, device.allocate<f16>(heads * n * d));
  NEREID_TRY(const Buffer<float> lse, device.allocate<float>(heads * n));

  Kernel kernel("attention", attention);
  NEREID_CHECK(kernel(device.stream(), {cdiv(n, config.block_m), heads}, config, q_buffer, k_buffer, v_buffer,
                      out, lse, n, scale));

  std::vector<double> exact, exact_lse;
  for (int head = 0; head < heads; ++head)
    for (int query = 0; query < n; ++query) {
      std::vector<double> result(d);
      double total = 0;
      for (int key = 0; key < (causal ? query + 1 : n); ++key) {
        double score = 0;
        for (int i = 0; i < d; ++i)
          score += double{float(q[(head * n + query) * d + i])} * float(k[(head * n + key) * d + i]);
        const double weight = std::exp(score * scale);
        total += weight;
        for (int i = 0; i < d; ++i)
          result[i] += weight * float(v[(head * n + key) * d + i]);
      }
      for (double value : result)
        exact.push_back(value / total);
      exact_lse.push_back(std::log2(total));
    }
  NEREID_TRY(const std::vector<f16> values, out.to_host());
  NEREID_TRY(const std::vector<float> sums, lse.to_host());
  // Weights and results are rounded to f16.
  return ports::count_wrong(values, exact, 1e-3) + ports::count_wrong(sums, exact_lse, 1e-5);
}

Result<int> run(const Device &device) {
  NEREID_TRY(const int full, run(device, false));
  NEREID_TRY(const int causal, run(device, true));
  return full + causal;
}

int main() {
  const Device device = Device::best();
  return ports::report("06_fused_attention: 2 heads, 200 x 64", device, run(device));
}
