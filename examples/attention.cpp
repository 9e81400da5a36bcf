// out = softmax(Q K' / sqrt(d)) V of f16 matrices, FlashAttention in a page: a program takes a block of
// queries over all keys, and keeps a running maximum and sum of each row in place of the matrix of scores.
#include <cmath>
#include <cstdio>
#include <vector>

#include <nereid/nereid.h>

using namespace nereid;

constexpr int head = 64; // elements of a query, a key and a value

struct AttentionConfig {
  int block_m = 128; // queries of a program
  int block_n = 64;  // keys of an iteration
  int waves = 4;
  int stages = 2;
  int mfma = 32;
  NEREID_CONFIG(AttentionConfig, block_m, block_n, waves, stages, mfma)
};

// q and out are [m, head], k and v [n, head]; all are row-major.
void attention(const AttentionConfig &c, Ptr<const f16> q, Ptr<const f16> k, Ptr<const f16> v, Ptr<f16> out,
               Int m, Int n) {
  const float log2_scale = 1.44269504F / std::sqrt(float(head)); // exp(x) is exp2(x log2(e))
  Tile<i32> query = program_id(0) * c.block_m + rows(c.block_m);
  Tile<i32> element = cols(head);
  Tile<f16> x = load(q + (query * head + element), query < m);

  Var maximum = full<f32>({c.block_m, 1}, -1e30F);
  Var total = zeros<f32>({c.block_m, 1});
  Var sum_of_values = zeros<f32>({c.block_m, head});
  for (Int first : range(0, n, c.block_n)) {
    Tile<i32> key = first + rows(c.block_n);
    Tile<f16> keys = load(k + (key * head + element), key < n);
    Tile<f32> product = dot(x, trans(keys));
    Tile<f32> scores = where(first + cols(c.block_n) < n, product * log2_scale, -1e30F);
    Tile<f16> values = load(v + (key * head + element), key < n);

    Tile<f32> highest = max(maximum, max(scores, keep_axis(1)));
    Tile<f32> weights = fast::exp2(scores - highest);
    Tile<f32> rescale = fast::exp2(maximum - highest); // what came before was relative to the old maximum
    total = total * rescale + sum(weights, keep_axis(1));
    sum_of_values = sum_of_values * rescale + dot(weights.to<f16>(), values);
    maximum = highest;
  }
  store(out + (query * head + element), (sum_of_values / total).to<f16>(), query < m);
}

int main() {
  const int m = 100, n = 150;
  std::vector<f16> q(m * head), k(n * head), v(n * head);
  for (size_t i = 0; i < q.size(); ++i)
    q[i] = f16(std::sin(0.37F * static_cast<float>(i)));
  for (size_t i = 0; i < k.size(); ++i) {
    k[i] = f16(std::cos(0.11F * static_cast<float>(i)));
    v[i] = f16(std::sin(0.05F * static_cast<float>(i)));
  }
  Device device = Device::best();
  Buffer<f16> q_buffer = device.upload(q).value();
  Buffer<f16> k_buffer = device.upload(k).value();
  Buffer<f16> v_buffer = device.upload(v).value();
  Buffer<f16> out_buffer = device.allocate<f16>(m * head).value();

  AttentionConfig config;
  Kernel kernel("attention", attention);
  Grid grid{cdiv(m, config.block_m)};
  Result<LaunchInfo> launched =
      kernel(device.stream(), grid, config, q_buffer, k_buffer, v_buffer, out_buffer, m, n);
  if (!launched) {
    std::fprintf(stderr, "%s\n", launched.error().text().c_str());
    return 1;
  }
  std::vector<f16> out = out_buffer.to_host().value();
  int wrong = 0;
  for (int row = 0; row < m; ++row) {
    std::vector<double> exact(head);
    double total = 0;
    for (int key = 0; key < n; ++key) {
      double score = 0;
      for (int e = 0; e < head; ++e)
        score += double{float(q[row * head + e])} * float(k[key * head + e]);
      const double weight = std::exp(score / std::sqrt(double{head}));
      total += weight;
      for (int e = 0; e < head; ++e)
        exact[e] += weight * float(v[key * head + e]);
    }
    for (int e = 0; e < head; ++e)
      wrong += std::fabs(float(out[row * head + e]) - exact[e] / total) > 2e-3;
  }
  std::printf("attention: %d queries, %d keys on %s, %d wrong\n", m, n, device.name().c_str(), wrong);
  return wrong == 0 ? 0 : 1;
}
