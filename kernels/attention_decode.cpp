// Attention of few queries: split and paged keys, heads that share keys as rows of one tile.
#include "kernels/attention_decode.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/problem_arguments.h"

namespace nereid::kernels {
namespace {

/// Where tiles of a sequence's keys and values lie, from the first element of their head on.
template <class T> class Cache {
public:
  Cache(const AttentionDecodeConfig &config, const Int &pitch, const Int &room, const Ptr<const i32> &table)
      : config_(config), pitch_(pitch), sequence_(program_id(2).to<i64>()), room_(room), table_(table) {}

  /// [block_n, head] from `first_key` on; keys from `last` on are zeros where they are masked.
  Tile<T> load_rows(const Ptr<const T> &from, const Int &first_key, const Int &last, bool is_masked) const {
    const Tile<i32> row = rows(config_.block_n);
    const Tile<i1> exists = first_key + row < last;
    const auto load_at = [&](const auto &elements) {
      return is_masked ? load(elements, exists) : load(elements);
    };
    const Ptr<const i32> pages = table_ + sequence_ * cdiv(room_, std::max(config_.page, 1)).to<i64>();
    if (config_.page % config_.block_n == 0) { // a block's rows follow each other
      const Long first = config_.page == 0 ? sequence_ * room_.to<i64>() + first_key.to<i64>()
                                           : place(load(pages + first_key / config_.page).to<i64>(),
                                                   (first_key % config_.page).to<i64>());
      return load_at(from + first * pitch_.to<i64>() + (row * pitch_ + cols(config_.head)));
    }
    const Tile<i32> key = first_key + row;
    const Tile<i32> page = load_at(pages + key / config_.page);
    const Tile<i64> first = place(page.to<i64>(), (key % config_.page).to<i64>());
    return load_at(from + (first * pitch_.to<i64>() + cols(config_.head).to<i64>()));
  }

private:
  template <class Page> Page place(const Page &page, const Page &key) const {
    return page * config_.page + key;
  }

  const AttentionDecodeConfig &config_;
  Int pitch_;
  Long sequence_;
  Int room_;
  Ptr<const i32> table_;
};

/// T: of queries and output, C: of keys, values and products.
template <class T, class C>
void attention_decode(const AttentionDecodeConfig &c, Ptr<const T> q, Ptr<const C> k, Ptr<const C> v,
                      Ptr<const i32> lengths, Ptr<const i32> table, Ptr<T> out, Ptr<f32> parts, Ptr<f32> sums,
                      Int m, Int n, Int batch, Int heads, Int key_heads, Float scale, Float value_scale) {
  assume(m >= 1);
  assume(n >= 0);
  for (const Int &count : {heads, key_heads}) {
    assume(count >= 1);
    assume(count <= max_attention_heads);
  }
  const Int group = heads / key_heads, row_blocks = cdiv(m * group, c.block_m);
  const Int key_head = program_id(0) / row_blocks, first_row = program_id(0) % row_blocks * c.block_m;
  const Tile<i32> row = first_row + rows(c.block_m), query = row / group;
  const Tile<i1> is_row = row < m * group;
  const Long sequence = program_id(2).to<i64>(), first_query = sequence * m.to<i64>() * heads.to<i64>();
  const Tile<i32> head_row = query * heads + (key_head * group + row % group);
  const Tile<i32> place = head_row * c.head + cols(c.head);
  const Tile<C> x = queries_as<C>(load(q + first_query * c.head + place, is_row));

  const Int length = max(min(load(lengths + sequence), n), 0);
  const KeyRange part = part_of_keys(program_id(1), c.split_k, length, c.block_n);
  const Int seen_by_all = first_row / group + (length - m) + 1; // with causal
  const KeyRange range{part.first, c.causal ? max(min(part.last, seen_by_all), part.first) : part.whole,
                       part.last};
  const Cache<C> cache(c, key_heads * c.head, n, table);
  const Int first_of_head = key_head * c.head;
  const auto rows_of = [&](const Ptr<const C> &from, Int first_key, bool is_masked) {
    return cache.load_rows(from + first_of_head, first_key, range.last, is_masked);
  };
  OnlineSoftmax softmax(c.block_m, c.head, c.mfma, scale);
  add_keys(
      softmax, range, c.block_n,
      [&](Int first_key, bool is_masked) { return dot(x, trans(rows_of(k, first_key, is_masked))); },
      [&](Int first_key, bool is_masked, int) { return rows_of(v, first_key, is_masked); },
      [&](Int first_key) {
        const Tile<i32> last_key = (range.last - 1 - first_key) + zeros<i32>({c.block_m, 1});
        return c.causal ? min(last_key, query + (length - m - first_key)) : last_key;
      });

  const Tile<f32> mean = softmax.result(), result = std::is_same_v<T, C> ? mean : mean * value_scale;
  if (c.split_k == 1) {
    store(out + first_query * c.head + place, result.template to<T>(), is_row);
    return;
  }
  const Long pitch = batch.to<i64>() * m.to<i64>() * heads.to<i64>();
  const Long of_part = program_id(1).to<i64>() * pitch + first_query;
  store(parts + of_part * c.head + place, result, is_row);
  store(sums + of_part + head_row, softmax.log2_sum(), is_row);
}

/// A head of a query.
template <class T>
void attention_combine(const AttentionDecodeConfig &c, Ptr<const f32> parts, Ptr<const f32> sums, Ptr<T> out,
                       Int m, Int batch, Int heads) {
  const Long query = program_id(2).to<i64>() * m.to<i64>() + program_id(1).to<i64>();
  const Long row = query * heads.to<i64>() + program_id(0).to<i64>();
  const Long pitch = batch.to<i64>() * m.to<i64>() * heads.to<i64>();
  const Tile<f32> result = combined_parts(c.split_k, c.head, parts, sums, row, pitch);
  store(out + row * c.head + arange(0, c.head), result.template to<T>());
}

AttentionDecodeConfig decode_defaults(const Partial<AttentionDecodeConfig> &given, const MaybeSize &) {
  AttentionDecodeConfig config = config_merge(AttentionDecodeConfig{}, given);
  if (config.element == AttentionElement::Fp8 && !given.block_n) {
    constexpr int keys_of_instruction = 128;
    config.block_n = config.page > 0 ? std::gcd(config.page, keys_of_instruction) : keys_of_instruction;
    config.block_n = std::max(config.block_n, key_run<fp8> * 64 / config.mfma);
  }
  return config;
}

Status check_decode(std::string_view kernel, const AttentionDecodeConfig &config, const MaybeSize &size) {
  NEREID_CHECK(check_attention_head(kernel, config.head));
  NEREID_CHECK(check_attention_tile(
      kernel, {config.block_m, config.block_n, config.waves, config.mfma, config.element}));
  if (size && (size->m < 1 || size->m > Grid::max_y_or_z || size->n < 0 || size->n > max_attention_tokens))
    return user_error(fmt::format("{}: {} queries and {} keys are out of range", kernel, size->m, size->n));
  return check_elements(kernel, {"block_m", config.block_m}, {"head", config.head}, config.waves, 64);
}

/// Error (User): a problem that the kernels do not take.
Status check_problem(std::string_view kernel, AttentionElement element, const ProblemSize &size,
                     const AttentionDecodeOperands &operands) {
  const int64_t batch = operands.batch;
  if (batch < 1 || batch > Grid::max_y_or_z)
    return user_error(fmt::format("{}: a batch of {} is not from 1 to {}", kernel, batch, Grid::max_y_or_z));
  NEREID_CHECK(check_tensor_scales(kernel, element, operands.scales()));
  NEREID_CHECK(
      check_heads_and_scale(kernel, operands.heads, operands.key_heads, operands.scales().products()));
  if (size.m * operands.heads > INT32_MAX / 1024)
    return user_error(fmt::format("{}: {} queries of {} heads are too many", kernel, size.m, operands.heads));
  return {};
}

Grid decode_grid(const AttentionDecodeConfig &config, const ProblemSize &size,
                 const AttentionDecodeOperands &operands) {
  const int64_t rows = size.m * (operands.heads / operands.key_heads);
  return {static_cast<uint32_t>(operands.key_heads) * programs(rows, config.block_m),
          static_cast<uint32_t>(config.split_k), static_cast<uint32_t>(operands.batch)};
}

Grid combine_grid(const AttentionDecodeConfig &, const ProblemSize &size,
                  const AttentionDecodeOperands &operands) {
  return {static_cast<uint32_t>(operands.heads), static_cast<uint32_t>(size.m),
          static_cast<uint32_t>(operands.batch)};
}

/// The arguments that both kernels have.
struct DecodeArguments {
  const AttentionDecodeConfig &config;
  const AttentionDecodeOperands &operands;
  ProblemSize size;
  int64_t rows, splits; ///< of all sequences and heads; of parts, 0 where there are none

  DecodeArguments(const AttentionDecodeConfig &c, const MaybeSize &known,
                  const AttentionDecodeOperands &given)
      : config(c), operands(given), size(known.value_or(ProblemSize{})),
        rows(given.batch * size.m * given.heads), splits(c.split_k > 1 ? c.split_k : 0) {}

  template <class T> MemoryArgument<T> out(bool is_written) const {
    return {"out", operands.out, is_written ? rows * config.head * 2 : 0, "[batch, m, heads, head]"};
  }
  template <class T> MemoryArgument<T> parts() const {
    return {"parts", operands.parts, splits * rows * config.head * 4, "f32 [split_k, batch, m, heads, head]"};
  }
  template <class T> MemoryArgument<T> sums() const {
    return {"sums", operands.sums, splits * rows * 4, "f32 [split_k, batch, m, heads]"};
  }
  template <class T> MemoryArgument<const T> cache(std::string_view name, const DeviceMemory &memory) const {
    const int64_t keys = config.page > 0 ? operands.pages * config.page : operands.batch * size.n;
    return {name, memory, keys * operands.key_heads * config.head * int64_t{sizeof(T)},
            config.page > 0 ? "[pages, page, key_heads, head]" : "[batch, n, key_heads, head]"};
  }
  MemoryArgument<const i32> table() const {
    const int64_t pages = config.page > 0 ? (size.n + config.page - 1) / config.page : 0;
    return {"table", operands.table, operands.batch * pages * 4, "i32 [batch, ceil(n / page)]"};
  }
  static NumberArgument<int32_t> number(std::string_view name, int64_t of) {
    return {name, static_cast<int32_t>(of)};
  }
};

BoundKernel checked(BoundKernel bound, std::string_view name, const DecodeArguments &of) {
  if (const Status fits = check_problem(name, of.config.element, of.size, of.operands); !fits)
    bound.refuse(fits.error());
  return bound;
}

template <class T, class C> BoundKernel bind_decode_of(std::string_view name, const DecodeArguments &of) {
  const AttentionDecodeOperands &operands = of.operands;
  return bind_kernel<attention_decode<T, C>>(
      name, of.config,
      MemoryArgument<const T>{"q", operands.q, of.rows * of.config.head * 2, "[batch, m, heads, head]"},
      of.cache<C>("k", operands.k), of.cache<C>("v", operands.v),
      MemoryArgument<const i32>{"lengths", operands.lengths, operands.batch * 4, "i32 [batch]"}, of.table(),
      of.out<T>(of.splits == 0), of.parts<f32>(), of.sums<f32>(), DimensionArgument{"m", of.size.m},
      DimensionArgument{"n", of.size.n}, DecodeArguments::number("batch", operands.batch),
      DecodeArguments::number("heads", operands.heads),
      DecodeArguments::number("key_heads", operands.key_heads),
      NumberArgument{"scale", operands.scales().products()}, NumberArgument{"v_scale", operands.v_scale});
}

template <class T> BoundKernel bind_combine_of(std::string_view name, const DecodeArguments &of) {
  return bind_kernel<attention_combine<T>>(name, of.config, of.parts<const f32>(), of.sums<const f32>(),
                                           of.out<T>(true), DimensionArgument{"m", of.size.m},
                                           DecodeArguments::number("batch", of.operands.batch),
                                           DecodeArguments::number("heads", of.operands.heads));
}

BoundKernel bind_decode(std::string_view name, const AttentionDecodeConfig &config, const MaybeSize &size,
                        const AttentionDecodeOperands &operands) {
  const DecodeArguments of(config, size, operands);
  const auto bind = config.element == AttentionElement::Fp8   ? bind_decode_of<bf16, fp8>
                    : config.element == AttentionElement::F16 ? bind_decode_of<f16, f16>
                                                              : bind_decode_of<bf16, bf16>;
  return checked(bind(name, of), name, of);
}

BoundKernel bind_combine(std::string_view name, const AttentionDecodeConfig &config, const MaybeSize &size,
                         const AttentionDecodeOperands &operands) {
  const DecodeArguments of(config, size, operands);
  return checked(config.element == AttentionElement::F16 ? bind_combine_of<f16>(name, of)
                                                         : bind_combine_of<bf16>(name, of),
                 name, of);
}

constexpr LaunchNumber<AttentionDecodeConfig, AttentionDecodeOperands> decode_numbers[] = {
    {"batch", [](auto &operands, int64_t value) { operands.batch = value; },
     [](const auto &) { return int64_t{32}; }},
    {"heads", [](auto &operands, int64_t value) { operands.heads = value; },
     [](const auto &) { return int64_t{32}; }},
    {"key_heads", [](auto &operands, int64_t value) { operands.key_heads = value; },
     [](const auto &) { return int64_t{8}; }},
};

/// All n keys of every sequence, in pages that follow each other.
LaunchIndices decode_indices(const AttentionDecodeConfig &config, const ProblemSize &size,
                             AttentionDecodeOperands &operands) {
  const std::vector<int32_t> lengths(static_cast<size_t>(operands.batch), static_cast<int32_t>(size.n));
  LaunchIndices indices{"all n keys in every sequence", {contents_of<int32_t>("lengths", lengths)}};
  if (config.page > 0) {
    operands.pages = operands.batch * blocks(size.n, config.page);
    std::vector<int32_t> table(static_cast<size_t>(operands.pages));
    std::iota(table.begin(), table.end(), 0);
    indices.operands.push_back(contents_of<int32_t>("table", table));
  }
  return indices;
}

} // namespace

constinit const LibraryKernel<AttentionDecodeConfig, AttentionDecodeOperands> attention_decode_kernel{
    .name = "attention_decode",
    .summary = "attention of few queries on a cache of keys",
    .rule = {{1, Grid::max_y_or_z}, {0, max_attention_tokens}, DimensionRule::ignored()},
    .defaults = decode_defaults,
    .check = check_decode,
    .grid = decode_grid,
    .grid_terms = {{{"row_blocks", ""}, {"", "split_k"}, {"batch", ""}}},
    .bind = bind_decode,
    .numbers = decode_numbers,
    .indices = decode_indices,
};

constinit const LibraryKernel<AttentionDecodeConfig, AttentionDecodeOperands> attention_combine_kernel{
    .name = "attention_combine",
    .summary = "the parts of attention_decode put together",
    .rule = {{1, Grid::max_y_or_z}, {0, max_attention_tokens}, DimensionRule::ignored()},
    .defaults = decode_defaults,
    .check = check_decode,
    .grid = combine_grid,
    .grid_terms = {{{"heads", ""}, {"m", ""}, {"batch", ""}}},
    .bind = bind_combine,
    .numbers = decode_numbers,
};

} // namespace nereid::kernels
