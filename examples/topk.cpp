// The experts of each token: the greatest of its scores with their indices, and weights that sum to 1.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include <nereid/nereid.h>

using namespace nereid;

struct RoutingConfig {
  int experts = 64; // a power of two that holds a token's scores
  int chosen = 4;   // a power of two
  int waves = 1;
  NEREID_CONFIG(RoutingConfig, experts, chosen, waves)
};

void routing(const RoutingConfig &c, Ptr<const f32> scores, Ptr<f32> weights, Ptr<i32> experts, Int count) {
  Tile<i32> i = arange(0, c.experts);
  Tile<f32> score = load(scores + program_id(0) * count + i, i < count, -INFINITY);
  auto [best, index] = topk(score, c.chosen);
  Tile<f32> weight = exp(best - max(best, axis(0)));
  Tile<i32> to = program_id(0) * c.chosen + arange(0, c.chosen);
  store(weights + to, weight / sum(weight, axis(0)));
  store(experts + to, index);
}

int main() {
  const int tokens = 21;
  const int count = 60;
  const RoutingConfig config;
  std::vector<float> input(tokens * count);
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = 3.0F * std::sin(0.37F * static_cast<float>(i));
  Device device = Device::best();
  Buffer<float> scores = device.upload(input).value();
  Buffer<float> weights = device.allocate<float>(tokens * config.chosen).value();
  Buffer<int32_t> experts = device.allocate<int32_t>(tokens * config.chosen).value();

  Kernel<routing> kernel;
  Result<LaunchInfo> launched = kernel(device.stream(), {tokens}, config, scores, weights, experts, count);
  if (!launched) {
    std::fprintf(stderr, "%s\n", launched.error().text().c_str());
    return 1;
  }
  const std::vector<float> weight = weights.to_host().value();
  const std::vector<int32_t> expert = experts.to_host().value();
  int wrong = 0;
  for (int token = 0; token < tokens; ++token) {
    const float *row = &input[static_cast<size_t>(token) * count];
    std::vector<int32_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return row[a] > row[b]; });
    double total = 0;
    for (int k = 0; k < config.chosen; ++k)
      total += std::exp(static_cast<double>(row[order[k]]));
    for (int k = 0; k < config.chosen; ++k) {
      const size_t at = static_cast<size_t>(token) * config.chosen + k;
      const double exact = std::exp(static_cast<double>(row[order[k]])) / total;
      wrong += expert[at] != order[k] || std::fabs(weight[at] - exact) > 1e-5 * exact;
    }
  }
  std::printf("topk: %d tokens on %s, %d wrong\n", tokens, device.name().c_str(), wrong);
  return wrong == 0 ? 0 : 1;
}
