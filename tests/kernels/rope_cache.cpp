// Rotary embedding and writes to a paged cache, to the bit.
#include <cmath>

#include <gtest/gtest.h>

#include "kernels/host/formats.h"
#include "kernels/host/random.h"
#include "kernels/rope_cache.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

constexpr uint16_t untouched = 0xa5a5;

std::vector<float> angles(int64_t positions, int64_t head) {
  std::vector<float> result(positions * head);
  for (int64_t position = 0; position < positions; ++position)
    for (int64_t i = 0; i < head / 2; ++i) {
      const double angle =
          static_cast<double>(position) * std::pow(1e4, -2.0 * static_cast<double>(i) / head);
      result[position * head + i] = static_cast<float>(std::cos(angle));
      result[position * head + head / 2 + i] = static_cast<float>(std::sin(angle));
    }
  return result;
}

/// One head, rotated in f32 with every operation rounded.
void rotate(std::span<uint16_t> head, const float *cos_sin, RotaryStyle style) {
  const size_t half = head.size() / 2;
  for (size_t i = 0; i < half; ++i) {
    const bool halves = style == RotaryStyle::Halves;
    uint16_t &a = head[halves ? i : 2 * i], &b = head[halves ? half + i : 2 * i + 1];
    const float x = host::bf16_to_float(a), y = host::bf16_to_float(b), c = cos_sin[i], s = cos_sin[half + i];
    const volatile float xc = x * c, ys = y * s, yc = y * c, xs = x * s;
    a = host::bf16_from_float(xc - ys);
    b = host::bf16_from_float(yc + xs);
  }
}

void expect_written(Backend backend, const RopeCacheConfig &config, const std::vector<int64_t> &slots) {
  SCOPED_TRACE(name_of(backend) + " " + config_text(config));
  const Device &device = device_of(backend);
  const auto m = static_cast<int64_t>(slots.size());
  const int64_t pages = 5, positions = 50, head = config.head, token = config.kv_heads * head;
  const auto q = host::normal_bf16(m * config.heads * head, 1);
  const auto k = host::normal_bf16(m * token, 2), v = host::normal_bf16(m * token, 3);
  const std::vector<float> cos_sin = angles(positions, head);
  std::vector<int32_t> position(m);
  for (int64_t i = 0; i < m; ++i)
    position[i] = static_cast<int32_t>((i * 17 + 3) % positions);
  const auto device_q = device.upload(q).value(), device_k = device.upload(k).value(),
             device_v = device.upload(v).value();
  const auto device_position = device.upload(position).value();
  const auto device_angles = device.upload(cos_sin).value();
  const auto device_slots = device.upload(slots).value();
  const std::vector<uint16_t> empty(pages * config.page * token, untouched);
  const auto k_cache = device.upload(empty).value(), v_cache = device.upload(empty).value();
  const Stream stream = device.stream();
  const auto launched = rope_cache_kernel.launch(
      {stream, options_of(backend)}, config, {m, 0, 0},
      {device_q, device_k, device_v, device_position, device_angles, device_slots, k_cache, v_cache, pages});
  ASSERT_TRUE(launched.ok()) << launched.error().text();
  ASSERT_TRUE(stream.synchronize().ok());

  std::vector<uint16_t> expected_q = q, rotated_k = k, expected_k = empty, expected_v = empty;
  for (int64_t i = 0; i < m; ++i) {
    const float *row = &cos_sin[position[i] * head];
    for (int64_t h = 0; h < config.heads; ++h)
      rotate(std::span(expected_q).subspan((i * config.heads + h) * head, head), row, config.style);
    for (int64_t h = 0; h < config.kv_heads; ++h) {
      rotate(std::span(rotated_k).subspan(i * token + h * head, head), row, config.style);
      if (slots[i] < 0)
        continue;
      const int64_t page = slots[i] / config.page, in_page = slots[i] % config.page;
      const int64_t at = config.layout == CacheLayout::TokensFirst
                             ? slots[i] * token + h * head
                             : page * config.page * token + (h * config.page + in_page) * head;
      std::copy_n(rotated_k.begin() + i * token + h * head, head, expected_k.begin() + at);
      std::copy_n(v.begin() + i * token + h * head, head, expected_v.begin() + at);
    }
  }
  EXPECT_EQ(device_q.to_host().value(), expected_q);
  EXPECT_EQ(k_cache.to_host().value(), expected_k);
  EXPECT_EQ(v_cache.to_host().value(), expected_v);
}

} // namespace

TEST(RopeCache, RotatesAndWritesToTheBit) {
  for (Backend backend : {Backend::Interpreted, Backend::Checked})
    for (RotaryStyle style : {RotaryStyle::Halves, RotaryStyle::Neighbours})
      for (CacheLayout layout : {CacheLayout::TokensFirst, CacheLayout::HeadsFirst}) {
        expect_written(backend,
                       {.heads = 8, .kv_heads = 2, .head = 64, .page = 16, .style = style, .layout = layout},
                       {3, 79, -1, 16, 0});
        expect_written(backend,
                       {.heads = 16,
                        .kv_heads = 4,
                        .head = 128,
                        .page = 64,
                        .waves = 2,
                        .style = style,
                        .layout = layout},
                       {-5, 319});
      }
}

TEST(RopeCache, RefusesAHeadOfAnOddNumber) {
  EXPECT_EQ(rope_cache_kernel.complete({.head = 63}, ProblemSize{1, 0, 0}).error().message,
            "rope_cache: head=63 is odd");
}

TEST(RopeCache, RefusesPagesWithoutTokens) {
  EXPECT_EQ(rope_cache_kernel.complete({.page = 0}, ProblemSize{1, 0, 0}).error().message,
            "rope_cache: page=0: a page has at least one token");
}
