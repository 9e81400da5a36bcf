// Decoding with multi-head latent attention: waves have heads, which share the rows of the cache in LDS.
#include "kernels/mla_decode.h"

#include <bit>
#include <vector>

#include <fmt/format.h>

#include "kernels/attention_loop.h"
#include "kernels/config_checks.h"
#include "kernels/problem_arguments.h"

namespace nereid::kernels {
namespace {

constexpr int rows_of_wave = 16;    ///< the instruction's
constexpr int values_of_lane = 256; ///< at a time; two in a register

void mla_decode(const MlaDecodeConfig &c, Ptr<const bf16> q, Ptr<const bf16> cache, Ptr<const i32> lengths,
                Ptr<bf16> out, Ptr<f32> parts, Ptr<f32> sums, Int m, Int n, Int heads, Float scale) {
  assume(heads >= 0);
  assume(heads <= max_attention_heads);
  const Int first_head = program_id(0) * c.block_m, split = program_id(1);
  const Long sequence = program_id(2).to<i64>();
  const Tile<i32> head = rows(c.block_m);
  const Tile<i1> is_head = first_head + head < heads;
  const Long first_query = sequence * heads.to<i64>() + first_head.to<i64>();
  const Ptr<const bf16> query = q + first_query * mla_row;
  const auto load_queries = [&](int from, int count) {
    return load(query + from + (head * mla_row + cols(count)), is_head);
  };
  const auto blocks_of_values = static_cast<unsigned>(cdiv(c.block_n * mla_latent, 64 * values_of_lane));
  const int pieces = static_cast<int>(std::bit_ceil(blocks_of_values)), width = mla_latent / pieces;
  std::vector<Tile<bf16>> x;
  for (int piece = 0; piece < pieces; ++piece)
    x.push_back(load_queries(piece * width, width));
  const Tile<bf16> x_rotary = load_queries(mla_latent, mla_rotary);

  const Int length = max(min(load(lengths + sequence), n), 0);
  const KeyRange range = part_of_keys(split, c.split_k, length, c.block_n);
  const Ptr<const bf16> keys = cache + sequence * n.to<i64>() * mla_row;
  OnlineSoftmax softmax(c.block_m, width, rows_of_wave, scale, pieces);
  const auto columns = [&](Int first_key, bool is_masked, int from, int count) {
    const Ptr<const bf16> tile = keys + first_key.to<i64>() * mla_row;
    const Tile<i32> offsets = rows(c.block_n) * mla_row + cols(count);
    return is_masked ? load(tile + from + offsets, first_key + rows(c.block_n) < range.last)
                     : load(tile + from + offsets);
  };
  const auto latent = [&](Int first_key, bool is_masked, int piece) {
    return columns(first_key, is_masked, piece * width, width);
  };
  const auto scores = [&](Int first_key, bool is_masked) {
    Var sum = dot(x[0], trans(latent(first_key, is_masked, 0)));
    for (int piece = 1; piece < pieces; ++piece)
      sum += dot(x[piece], trans(latent(first_key, is_masked, piece)));
    sum += dot(x_rotary, trans(columns(first_key, is_masked, mla_latent, mla_rotary)));
    return sum.get();
  };
  add_keys(softmax, range, c.block_n, scores, latent,
           [&](Int first_key) { return range.last - first_key - 1; });

  const Long part = split.to<i64>() * m.to<i64>() * heads.to<i64>() + first_query;
  for (int piece = 0; piece < pieces; ++piece) {
    const Tile<i32> place = head * mla_latent + cols(width) + piece * width;
    if (c.split_k == 1)
      store(out + first_query * mla_latent + place, softmax.result(piece).to<bf16>(), is_head);
    else
      store(parts + part * mla_latent + place, softmax.result(piece), is_head);
  }
  if (c.split_k > 1)
    store(sums + part + head, softmax.log2_sum(), is_head);
}

/// A head of a sequence.
void mla_combine(const MlaDecodeConfig &c, Ptr<const f32> parts, Ptr<const f32> sums, Ptr<bf16> out, Int m,
                 Int heads) {
  const Long row = program_id(1).to<i64>() * heads.to<i64>() + program_id(0).to<i64>();
  const Long pitch = m.to<i64>() * heads.to<i64>();
  const Tile<f32> result = combined_parts(c.split_k, mla_latent, parts, sums, row, pitch);
  store(out + row * mla_latent + arange(0, mla_latent), result.to<bf16>());
}

MlaDecodeConfig mla_defaults(const Partial<MlaDecodeConfig> &given, const MaybeSize &) {
  return config_merge(MlaDecodeConfig{}, given);
}

Status check_mla(std::string_view kernel, const MlaDecodeConfig &config, const MaybeSize &size) {
  const KeyValue values[] = {
      {"block_m", config.block_m}, {"block_n", config.block_n}, {"waves", config.waves}};
  NEREID_CHECK(check_values(kernel, values));
  if (config.block_n % 32 != 0)
    return user_error(fmt::format("{}: block_n={} is no multiple of 32", kernel, config.block_n));
  if (config.block_m != config.waves * rows_of_wave)
    return user_error(fmt::format("{}: block_m={} is not {} rows for each of {} waves", kernel,
                                  config.block_m, rows_of_wave, config.waves));
  if (size && (size->m < 1 || size->m > Grid::max_y_or_z || size->n < 0 || size->n > max_attention_tokens))
    return user_error(fmt::format("{}: {} sequences of {} keys are out of range", kernel, size->m, size->n));
  return {};
}

Grid decode_grid(const MlaDecodeConfig &config, const ProblemSize &size, const MlaDecodeOperands &operands) {
  return {programs(operands.heads, config.block_m), static_cast<uint32_t>(config.split_k),
          static_cast<uint32_t>(size.m)};
}

Grid combine_grid(const MlaDecodeConfig &, const ProblemSize &size, const MlaDecodeOperands &operands) {
  return {static_cast<uint32_t>(operands.heads), static_cast<uint32_t>(size.m)};
}

/// The arguments that both kernels have.
struct MlaArguments {
  const MlaDecodeOperands &operands;
  ProblemSize size;
  int64_t rows, splits; ///< of queries; of parts, 0 where there are none

  MlaArguments(const MlaDecodeConfig &config, const MaybeSize &known, const MlaDecodeOperands &given)
      : operands(given), size(known.value_or(ProblemSize{})), rows(size.m * given.heads),
        splits(config.split_k > 1 ? config.split_k : 0) {}

  MemoryArgument<bf16> out(bool is_written) const {
    return {"out", operands.out, is_written ? rows * mla_latent * 2 : 0, "bf16 [m, heads, 512]"};
  }
  template <class T> MemoryArgument<T> parts() const {
    return {"parts", operands.parts, splits * rows * mla_latent * 4, "f32 [split_k, m, heads, 512]"};
  }
  template <class T> MemoryArgument<T> sums() const {
    return {"sums", operands.sums, splits * rows * 4, "f32 [split_k, m, heads]"};
  }
  NumberArgument<int32_t> heads() const { return {"heads", static_cast<int32_t>(operands.heads)}; }
};

BoundKernel checked(BoundKernel bound, std::string_view name, const MlaDecodeOperands &operands) {
  if (const Status fits = check_heads_and_scale(name, operands.heads, 1, operands.scale); !fits)
    bound.refuse(fits.error());
  return bound;
}

BoundKernel bind_decode(std::string_view name, const MlaDecodeConfig &config, const MaybeSize &size,
                        const MlaDecodeOperands &operands) {
  const MlaArguments of(config, size, operands);
  return checked(
      bind_kernel<mla_decode>(
          name, config,
          MemoryArgument<const bf16>{"q", operands.q, of.rows * mla_row * 2, "bf16 [m, heads, 576]"},
          MemoryArgument<const bf16>{"cache", operands.cache, of.size.m * of.size.n * mla_row * 2,
                                     "bf16 [m, n, 576]"},
          MemoryArgument<const i32>{"lengths", operands.lengths, of.size.m * 4, "i32 [m]"},
          of.out(of.splits == 0), of.parts<f32>(), of.sums<f32>(), DimensionArgument{"m", of.size.m},
          DimensionArgument{"n", of.size.n}, of.heads(), NumberArgument{"scale", operands.scale}),
      name, operands);
}

BoundKernel bind_combine(std::string_view name, const MlaDecodeConfig &config, const MaybeSize &size,
                         const MlaDecodeOperands &operands) {
  const MlaArguments of(config, size, operands);
  return checked(bind_kernel<mla_combine>(name, config, of.parts<const f32>(), of.sums<const f32>(),
                                          of.out(true), DimensionArgument{"m", of.size.m}, of.heads()),
                 name, operands);
}

constexpr LaunchNumber<MlaDecodeConfig, MlaDecodeOperands> mla_numbers[] = {
    {"heads", [](auto &operands, int64_t value) { operands.heads = value; },
     [](const auto &) { return int64_t{128}; }},
};

LaunchIndices decode_indices(const MlaDecodeConfig &, const ProblemSize &size, MlaDecodeOperands &) {
  const std::vector<int32_t> lengths(static_cast<size_t>(size.m), static_cast<int32_t>(size.n));
  return {"all n keys in every sequence", {contents_of<int32_t>("lengths", lengths)}};
}

} // namespace

constinit const LibraryKernel<MlaDecodeConfig, MlaDecodeOperands> mla_decode_kernel{
    .name = "mla_decode",
    .summary = "decoding with multi-head latent attention, 512 + 64",
    .rule = {{1, Grid::max_y_or_z}, {0, max_attention_tokens}, DimensionRule::ignored()},
    .defaults = mla_defaults,
    .check = check_mla,
    .grid = decode_grid,
    .grid_terms = {{{"head_blocks", ""}, {"", "split_k"}, {"batch", ""}}},
    .bind = bind_decode,
    .numbers = mla_numbers,
    .indices = decode_indices,
};

constinit const LibraryKernel<MlaDecodeConfig, MlaDecodeOperands> mla_combine_kernel{
    .name = "mla_combine",
    .summary = "the parts of mla_decode put together",
    .rule = {{1, Grid::max_y_or_z}, {0, max_attention_tokens}, DimensionRule::ignored()},
    .defaults = mla_defaults,
    .check = check_mla,
    .grid = combine_grid,
    .grid_terms = {{{"heads", ""}, {"m", ""}, {}}},
    .bind = bind_combine,
    .numbers = mla_numbers,
};

} // namespace nereid::kernels
