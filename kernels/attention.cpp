// Attention, forward. P goes from the scores' registers straight into the second product: rows of a tile lie
// in one wave, and the order in which a lane holds its keys is also that in which it takes rows of V.
#include "kernels/attention.h"

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/problem_arguments.h"

namespace nereid::kernels {
namespace {

/// Where the rows of a sequence begin, and how many there are.
struct Rows {
  Long first;
  Int count;
};

/// With `starts` those between its and the next start, at most `most`; else `most` for each.
Rows rows_of(bool ragged, const Ptr<const i32> &starts, const Int &sequence, const Int &most) {
  if (!ragged)
    return {sequence.to<i64>() * most.to<i64>(), most};
  const Int first = load(starts + sequence), next = load(starts + (sequence + 1));
  return {first.to<i64>(), max(min(next - first, most), 0)};
}

/// T: of queries and output, C: of keys, values and products.
template <class T, class C>
void attention(const AttentionConfig &c, Ptr<const T> q, Ptr<const C> k, Ptr<const C> v, Ptr<T> out,
               Ptr<const i32> query_starts, Ptr<const i32> key_starts, Int most_queries, Int most_keys,
               Int heads, Int key_heads, Float scale, Float value_scale) {
  assume(most_queries >= 0);
  assume(most_keys >= 0);
  for (const Int &count : {heads, key_heads}) {
    assume(count >= 1);
    assume(count <= max_attention_heads);
  }
  const Int first = program_id(0) * c.block_m, head = program_id(1);
  const auto [first_query, m] = rows_of(c.ragged, query_starts, program_id(2), most_queries);
  const auto [first_of_keys, n] = rows_of(c.ragged, key_starts, program_id(2), most_keys);
  const Int key_head = head / (heads / key_heads);
  const Tile<i32> query = first + rows(c.block_m);
  // Of a program's queries or results, heads of so many elements in memory: the first element.
  const auto start_of = [&](int width) {
    const Int pitch = heads * width;
    return (first_query + first.to<i64>()) * pitch.to<i64>() + (head * width).to<i64>();
  };
  const auto queries_of = [&](int from, int count) {
    const int width = c.head + c.rotary;
    const Tile<i32> offsets = rows(c.block_m) * (heads * width) + cols(count);
    return queries_as<C>(load(q + start_of(width) + from + offsets, query < m));
  };
  const auto keys_of = [&](const Ptr<const C> &memory, int width, int from, int count, Int first_key,
                           bool is_masked) {
    const Int pitch = key_heads * width;
    const Long start = first_of_keys * pitch.to<i64>() + (key_head * width).to<i64>();
    const Ptr<const C> tile = memory + (start + first_key.to<i64>() * pitch.to<i64>()) + from;
    const Tile<i32> offsets = rows(c.block_n) * pitch + cols(count);
    return is_masked ? load(tile + offsets, first_key + rows(c.block_n) < n) : load(tile + offsets);
  };
  const Tile<C> x = queries_of(0, c.head);
  const Tile<C> x_rotary = c.rotary > 0 ? queries_of(c.head, c.rotary) : x;

  OnlineSoftmax softmax(c.block_m, c.head, c.mfma, scale);
  const auto scores = [&](Int first_key, bool is_masked) {
    const auto keys = [&](int from, int count) {
      return trans(keys_of(k, c.head + c.rotary, from, count, first_key, is_masked));
    };
    const Tile<f32> product = dot(x, keys(0, c.head));
    return c.rotary > 0 ? product + dot(x_rotary, keys(c.head, c.rotary)) : product;
  };
  const auto values = [&](Int first_key, bool is_masked, int) {
    return keys_of(v, c.head, 0, c.head, first_key, is_masked);
  };
  const auto last_seen = [&](Int first_key) {
    const Tile<i32> last_key = (n - 1 - first_key) + zeros<i32>({c.block_m, 1});
    return c.causal ? min(last_key, query + (n - m - first_key)) : last_key;
  };

  const Int seen = c.ragged ? Int(where(first < m, n, 0)) : n; // none where there is no query
  Var last = seen, whole = seen;
  if (c.causal) {
    const Int visible = max(first + (n - m) + 1, 0); // of the first query
    last = min(seen, max(visible + (c.block_m - 1), 0));
    whole = min(seen, visible);
  }
  add_keys(softmax, {0, whole.get(), last.get()}, c.block_n, scores, values, last_seen);

  const Tile<i32> offsets = rows(c.block_m) * (heads * c.head) + cols(c.head);
  const Tile<f32> result = softmax.result();
  store(out + start_of(c.head) + offsets,
        (std::is_same_v<T, C> ? result : result * value_scale).template to<T>(), query < m);
}

AttentionConfig attention_defaults(const Partial<AttentionConfig> &given, const MaybeSize &) {
  AttentionConfig config = config_merge(AttentionConfig{}, given);
  if (config.rotary > 0 && !given.waves_per_eu)
    config.waves_per_eu = 1;
  return config;
}

Status check_attention(std::string_view kernel, const AttentionConfig &config, const MaybeSize &) {
  NEREID_CHECK(check_attention_head(kernel, config.head));
  if (config.rotary != 0 && config.rotary != 64)
    return user_error(fmt::format("{}: rotary={} is not taken", kernel, config.rotary), "use 0 or 64");
  NEREID_CHECK(check_attention_tile(
      kernel, {config.block_m, config.block_n, config.waves, config.mfma, config.element}));
  return check_elements(kernel, {"block_m", config.block_m}, {"head", config.head}, config.waves, 64);
}

/// Error (User): a problem that the kernel does not take.
Status check_problem(std::string_view kernel, AttentionElement element, const ProblemSize &size,
                     const AttentionOperands &operands) {
  const int64_t batch = operands.batch;
  if (batch < 1 || batch > Grid::max_y_or_z || size.m < 1 || size.n < 0 || size.m > max_attention_tokens ||
      size.n > max_attention_tokens)
    return user_error(
        fmt::format("{}: {} x {} queries and {} keys are out of range", kernel, batch, size.m, size.n));
  if (operands.queries < 0 || operands.queries > INT32_MAX || operands.keys < 0 || operands.keys > INT32_MAX)
    return user_error(fmt::format("{}: {} queries and {} keys of all sequences are out of range", kernel,
                                  operands.queries, operands.keys));
  NEREID_CHECK(check_tensor_scales(kernel, element, operands.scales()));
  return check_heads_and_scale(kernel, operands.heads, operands.key_heads, operands.scales().products());
}

Grid attention_grid(const AttentionConfig &config, const ProblemSize &size,
                    const AttentionOperands &operands) {
  return {programs(size.m, config.block_m), static_cast<uint32_t>(operands.heads),
          static_cast<uint32_t>(operands.batch)};
}

template <class T, class C>
BoundKernel bind_element(std::string_view name, const AttentionConfig &config, const ProblemSize &size,
                         const AttentionOperands &operands) {
  const int64_t of_key = config.head + config.rotary, of_value = config.head; // elements of a head
  const int64_t queries = config.ragged ? operands.queries : operands.batch * size.m;
  const int64_t keys = config.ragged ? operands.keys : operands.batch * size.n;
  const int64_t starts = config.ragged ? (operands.batch + 1) * 4 : 0;
  const int64_t query_heads = queries * operands.heads, key_heads = keys * operands.key_heads;
  const std::string_view q = config.ragged ? "[queries, heads, head + rotary]"
                                           : "[batch, m, heads, head + rotary]",
                         k = config.ragged ? "[keys, key_heads, head + rotary]"
                                           : "[batch, n, key_heads, head + rotary]",
                         v = config.ragged ? "[keys, key_heads, head]" : "[batch, n, key_heads, head]",
                         out = config.ragged ? "[queries, heads, head]" : "[batch, m, heads, head]";
  const auto number = [](int64_t of) { return static_cast<int32_t>(of); };
  return bind_kernel<attention<T, C>>(
      name, config, MemoryArgument<const T>{"q", operands.q, query_heads * of_key * 2, q},
      MemoryArgument<const C>{"k", operands.k, key_heads * of_key * int64_t{sizeof(C)}, k},
      MemoryArgument<const C>{"v", operands.v, key_heads * of_value * int64_t{sizeof(C)}, v},
      MemoryArgument<T>{"out", operands.out, query_heads * of_value * 2, out},
      MemoryArgument<const i32>{"query_starts", operands.query_starts, starts, "i32 [batch + 1]"},
      MemoryArgument<const i32>{"key_starts", operands.key_starts, starts, "i32 [batch + 1]"},
      DimensionArgument{"m", size.m}, DimensionArgument{"n", size.n},
      NumberArgument{"heads", number(operands.heads)},
      NumberArgument{"key_heads", number(operands.key_heads)},
      NumberArgument{"scale", operands.scales().products()}, NumberArgument{"v_scale", operands.v_scale});
}

BoundKernel bind_attention(std::string_view name, const AttentionConfig &config, const MaybeSize &size,
                           const AttentionOperands &operands) {
  const ProblemSize known = size.value_or(ProblemSize{});
  const auto bind = config.element == AttentionElement::Fp8   ? bind_element<bf16, fp8>
                    : config.element == AttentionElement::F16 ? bind_element<f16, f16>
                                                              : bind_element<bf16, bf16>;
  BoundKernel bound = bind(name, config, known, operands);
  if (const Status fits = check_problem(name, config.element, known, operands); !fits)
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

/// Where each sequence begins, all of them of the size's lengths.
std::vector<int32_t> starts_of(int64_t batch, int64_t length) {
  std::vector<int32_t> starts;
  for (int64_t sequence = 0; sequence <= batch; ++sequence)
    starts.push_back(static_cast<int32_t>(sequence * length));
  return starts;
}

LaunchIndices attention_indices(const AttentionConfig &config, const ProblemSize &size,
                                AttentionOperands &operands) {
  if (!config.ragged)
    return {};
  operands.queries = operands.batch * size.m;
  operands.keys = operands.batch * size.n;
  return {"m queries and n keys in every sequence",
          {contents_of<int32_t>("query_starts", starts_of(operands.batch, size.m)),
           contents_of<int32_t>("key_starts", starts_of(operands.batch, size.n))}};
}

} // namespace

constinit const LibraryKernel<AttentionConfig, AttentionOperands> attention_kernel{
    .name = "attention",
    .summary = "softmax(scale Q K') V, forward",
    .rule = {{1, max_attention_tokens}, {0, max_attention_tokens}, DimensionRule::ignored()},
    .defaults = attention_defaults,
    .check = check_attention,
    .grid = attention_grid,
    .grid_terms = {{{"m", "block_m"}, {"heads", ""}, {"batch", ""}}},
    .bind = bind_attention,
    .numbers = attention_numbers,
    .indices = attention_indices,
};

} // namespace nereid::kernels
