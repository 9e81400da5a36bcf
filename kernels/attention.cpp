// Attention, forward. P goes from the scores' registers straight into the second product: rows of a tile lie
// in one wave, and the order in which a lane holds its keys is also that in which it takes rows of V.
#include "kernels/attention.h"

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/online_softmax.h"
#include "kernels/problem_arguments.h"

namespace nereid::kernels {
namespace {

constexpr int64_t max_heads = 1024;
constexpr float min_scale = 1e-6F, max_scale = 1000;
template <class T>
void attention(const AttentionConfig &c, Ptr<const T> q, Ptr<const T> k, Ptr<const T> v, Ptr<T> out, Int m,
               Int n, Int heads, Int key_heads, Float scale) {
  assume(m >= 0);
  assume(n >= 0);
  assume(heads >= 0);
  assume(heads <= max_heads);
  assume(key_heads >= 0);
  assume(key_heads <= max_heads);
  const Int first = program_id(0) * c.block_m, head = program_id(1);
  const Long batch = program_id(2).to<i64>();
  const Int pitch = heads * c.head, key_pitch = key_heads * c.head;
  const Int key_head = head / (heads / key_heads);
  const Long start = (batch * m.to<i64>() + first.to<i64>()) * pitch.to<i64>() + (head * c.head).to<i64>();
  const Long key_start = batch * n.to<i64>() * key_pitch.to<i64>() + (key_head * c.head).to<i64>();

  const Tile<i32> query = first + rows(c.block_m);
  const Tile<i32> offsets = rows(c.block_m) * pitch + cols(c.head);
  const Tile<i32> key_offsets = rows(c.block_n) * key_pitch + cols(c.head);
  const Tile<T> x = load(q + start + offsets, query < m);

  OnlineSoftmax softmax(c.block_m, c.head, c.mfma, scale);
  const auto add_keys = [&](Int first_key, bool is_masked) {
    const Long at = key_start + first_key.to<i64>() * key_pitch.to<i64>();
    const auto keys_of = [&](const Ptr<const T> &from) {
      const Ptr<const T> tile = from + at;
      return is_masked ? load(tile + key_offsets, first_key + rows(c.block_n) < n) : load(tile + key_offsets);
    };
    Var scores = dot(x, trans(keys_of(k)));
    if (is_masked) {
      const Int last_key = n - 1 - first_key;
      scores = c.causal ? softmax.seen(scores.get(), min(last_key, query + (n - m - first_key)))
                        : softmax.seen(scores.get(), last_key);
    }
    softmax.add(scores.get(), [&] { return keys_of(v); });
  };

  // Keys that all queries of the block see come without masks.
  Var last = n, whole = n;
  if (c.causal) {
    const Int visible = max(first + (n - m) + 1, 0); // of the first query
    last = min(n, max(visible + (c.block_m - 1), 0));
    whole = min(n, visible);
  }
  const Int masked_from = whole.get() / c.block_n * c.block_n;
  for (Int first_key : range(0, masked_from, c.block_n))
    add_keys(first_key, false);
  for (Int first_key : range(masked_from, last.get(), c.block_n))
    add_keys(first_key, true);

  store(out + start + offsets, softmax.result().template to<T>(), query < m);
}

AttentionConfig attention_defaults(const Partial<AttentionConfig> &given, const MaybeSize &) {
  return config_merge(AttentionConfig{}, given);
}

Status check_attention(std::string_view kernel, const AttentionConfig &config, const MaybeSize &) {
  if (config.head != 64 && config.head != 128)
    return user_error(fmt::format("{}: head={} is not taken", kernel, config.head), "use 64 or 128");
  const KeyValue values[] = {{"block_m", config.block_m},
                             {"block_n", config.block_n},
                             {"waves", config.waves},
                             {"mfma", config.mfma}};
  NEREID_CHECK(check_values(kernel, values));
  if (config.block_n % 32 != 0)
    return user_error(fmt::format("{}: block_n={} is no multiple of 32", kernel, config.block_n));
  if (config.block_m < config.waves * config.mfma)
    return user_error(fmt::format("{}: block_m={} has less than {} rows for each of {} waves", kernel,
                                  config.block_m, config.mfma, config.waves));
  return check_elements(kernel, {"block_m", config.block_m}, {"head", config.head}, config.waves, 64);
}

/// Error (User): a problem that the kernel does not take.
Status check_problem(std::string_view kernel, const ProblemSize &size, const AttentionOperands &operands) {
  const auto &[q, k, v, out, batch, heads, key_heads, scale] = operands;
  if (batch < 1 || batch > Grid::max_y_or_z || size.m < 1 || size.n < 0 || size.m > INT32_MAX / 2 ||
      size.n > INT32_MAX / 2)
    return user_error(
        fmt::format("{}: {} x {} queries and {} keys are out of range", kernel, batch, size.m, size.n));
  if (heads < 1 || heads > max_heads || key_heads < 1 || heads % key_heads != 0)
    return user_error(fmt::format("{}: {} heads on {} key heads", kernel, heads, key_heads),
                      fmt::format("heads are a multiple of key heads, at most {}", max_heads));
  if (!(scale >= min_scale && scale <= max_scale))
    return user_error(
        fmt::format("{}: the scale {} is not from {} to {}", kernel, scale, min_scale, max_scale));
  return {};
}

Grid attention_grid(const AttentionConfig &config, const ProblemSize &size,
                    const AttentionOperands &operands) {
  return {programs(size.m, config.block_m), static_cast<uint32_t>(operands.heads),
          static_cast<uint32_t>(operands.batch)};
}

template <class T>
BoundKernel bind_element(std::string_view name, const AttentionConfig &config, const ProblemSize &size,
                         const AttentionOperands &operands) {
  const int64_t row = operands.heads * config.head * 2, key_row = operands.key_heads * config.head * 2;
  const int64_t bytes = operands.batch * size.m * row, key_bytes = operands.batch * size.n * key_row;
  constexpr std::string_view rows = "[batch, m, heads, head]", key_rows = "[batch, n, key_heads, head]";
  const auto number = [](int64_t of) { return static_cast<int32_t>(of); };
  return bind_kernel<attention<T>>(
      name, config, MemoryArgument<const T>{"q", operands.q, bytes, rows},
      MemoryArgument<const T>{"k", operands.k, key_bytes, key_rows},
      MemoryArgument<const T>{"v", operands.v, key_bytes, key_rows},
      MemoryArgument<T>{"out", operands.out, bytes, rows}, DimensionArgument{"m", size.m},
      DimensionArgument{"n", size.n}, NumberArgument{"heads", number(operands.heads)},
      NumberArgument{"key_heads", number(operands.key_heads)}, NumberArgument{"scale", operands.scale});
}

BoundKernel bind_attention(std::string_view name, const AttentionConfig &config, const MaybeSize &size,
                           const AttentionOperands &operands) {
  const ProblemSize known = size.value_or(ProblemSize{});
  BoundKernel bound = config.element == AttentionElement::F16
                          ? bind_element<f16>(name, config, known, operands)
                          : bind_element<bf16>(name, config, known, operands);
  if (const Status fits = check_problem(name, known, operands); !fits)
    bound.refuse(fits.error());
  return bound;
}

constexpr LaunchNumber<AttentionConfig, AttentionOperands> attention_numbers[] = {
    {"batch", [](auto &operands, int64_t value) { operands.batch = value; },
     [](const auto &) { return int64_t{1}; }},
    {"heads", [](auto &operands, int64_t value) { operands.heads = value; },
     [](const auto &) { return int64_t{32}; }},
    {"key_heads", [](auto &operands, int64_t value) { operands.key_heads = value; },
     [](const auto &) { return int64_t{8}; }},
};

} // namespace

constinit const LibraryKernel<AttentionConfig, AttentionOperands> attention_kernel{
    .name = "attention",
    .summary = "softmax(scale Q K') V, forward",
    .defaults = attention_defaults,
    .check = check_attention,
    .grid = attention_grid,
    .grid_terms = {{{"m", "block_m"}, {"heads", ""}, {"batch", ""}}},
    .bind = bind_attention,
    .numbers = attention_numbers,
};

} // namespace nereid::kernels
