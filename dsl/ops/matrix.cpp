// Products that are made of others: of batches, and of f32 matrices in bf16 parts.
#include "dsl/ops/matrix.h"

#include <array>
#include <vector>

#include <fmt/format.h>

namespace nereid::detail {

namespace {

using ir::Opcode;
using ir::ValueId;

/// x [M, N, B] as B matrices.
std::vector<ValueId> matrices_of(ir::Builder &builder, ValueId x) {
  const Shape shape = builder.type(x).shape;
  if (shape[2] == 1)
    return {builder.reshape(x, {shape[0], shape[1]})};
  const auto [even, odd] = builder.split(builder.reshape(x, {shape[0], shape[1], shape[2] / 2, 2}));
  const std::vector<ValueId> evens = matrices_of(builder, even), odds = matrices_of(builder, odd);
  std::vector<ValueId> result;
  for (size_t i = 0; i < evens.size(); ++i)
    result.insert(result.end(), {evens[i], odds[i]});
  return result;
}

/// The inverse.
ValueId batch_of(ir::Builder &builder, const std::vector<ValueId> &matrices) {
  const Shape shape = builder.type(matrices[0]).shape;
  const auto count = static_cast<int64_t>(matrices.size());
  if (count == 1)
    return builder.reshape(matrices[0], {shape[0], shape[1], 1});
  std::vector<ValueId> evens, odds;
  for (size_t i = 0; i < matrices.size(); ++i)
    (i % 2 == 0 ? evens : odds).push_back(matrices[i]);
  const ValueId joined = builder.join(batch_of(builder, evens), batch_of(builder, odds));
  return builder.reshape(joined, {shape[0], shape[1], count});
}

void check_batch(const ir::Builder &builder, std::string_view what, ValueId a, ValueId b) {
  const Shape &x = builder.type(a).shape, &y = builder.type(b).shape;
  if (x.size() != 3 || y.size() != 3 || x[0] != y[0])
    builder.fail(
        fmt::format("{}: {} and {} are not two batches of as many matrices", what, ir::text(x), ir::text(y)),
        "Pass [M, K] and [K, N], or [B, M, K] and [B, K, N]");
  if ((x[0] & (x[0] - 1)) != 0)
    builder.fail(fmt::format("{}: the batch of shape {} has {} matrices", what, ir::text(x), x[0]),
                 "Use a power of two: pad the batch, or give a program fewer matrices");
}

/// A batch [B, M, N] as its matrices, and back.
std::vector<ValueId> split_batch(ir::Builder &builder, ValueId batch) {
  return matrices_of(builder, builder.permute(batch, {1, 2, 0}));
}
ValueId join_batch(ir::Builder &builder, const std::vector<ValueId> &matrices) {
  return builder.permute(batch_of(builder, matrices), {2, 0, 1});
}

/// The matrices of one side of dot_scaled, each with its scales.
std::vector<ir::Builder::ScaledOperand> split_scaled(ir::Builder &builder,
                                                     const ir::Builder::ScaledOperand &side) {
  std::vector<ir::Builder::ScaledOperand> result;
  if (side.scales) {
    const Shape &codes = builder.type(side.codes).shape, &scales = builder.type(*side.scales).shape;
    if (scales.size() != 3 || scales[0] != codes[0])
      builder.fail(fmt::format("dot_scaled: a batch of shape {} has scales of shape {}", ir::text(codes),
                               ir::text(scales)),
                   "The scales of a are [B, M, K / 32], those of b [B, N, K / 32]");
  }
  for (const ValueId codes : split_batch(builder, side.codes))
    result.push_back({codes, {}, side.format});
  if (side.scales) {
    const std::vector<ValueId> scales = split_batch(builder, *side.scales);
    for (size_t i = 0; i < scales.size(); ++i)
      result[i].scales = scales[i];
  }
  return result;
}

/// bf16 parts of an f32 tile whose sum is the tile: each is what the ones before it leave, rounded.
std::array<ValueId, 3> parts_of(ir::Builder &builder, ValueId x) {
  std::array<ValueId, 3> parts{};
  for (ValueId &part : parts) {
    part = builder.cast(x, ir::Element::BF16);
    x = builder.binary(Opcode::Sub, x, builder.cast(part, ir::Element::F32));
  }
  return parts;
}

} // namespace

ValueId multiply(ir::Builder &builder, ValueId a, ValueId b, const Product &product) {
  if (builder.type(a).rank() != 3 && builder.type(b).rank() != 3)
    return product(a, b);
  check_batch(builder, "dot", a, b);
  const std::vector<ValueId> left = split_batch(builder, a), right = split_batch(builder, b);
  std::vector<ValueId> products;
  for (size_t i = 0; i < left.size(); ++i)
    products.push_back(product(left[i], right[i]));
  return join_batch(builder, products);
}

ValueId multiply_scaled(ir::Builder &builder, const ir::Builder::ScaledOperand &a,
                        const ir::Builder::ScaledOperand &b) {
  if (builder.type(a.codes).rank() != 3 && builder.type(b.codes).rank() != 3)
    return builder.dot_scaled(a, b);
  check_batch(builder, "dot_scaled", a.codes, b.codes);
  const std::vector<ir::Builder::ScaledOperand> left = split_scaled(builder, a),
                                                right = split_scaled(builder, b);
  std::vector<ValueId> products;
  for (size_t i = 0; i < left.size(); ++i)
    products.push_back(builder.dot_scaled(left[i], right[i]));
  return join_batch(builder, products);
}

ValueId dot_of_parts(ir::Builder &builder, ValueId a, ValueId b, DotPrecision precision) {
  const std::array<ValueId, 3> x = parts_of(builder, a), y = parts_of(builder, b);
  // Products of parts i and j are about 2^-9(i + j) of the whole; the smallest are added first.
  const int last = precision == DotPrecision::Bf16x6 ? 2 : 1;
  std::optional<ValueId> sum;
  for (int order = last; order >= 0; --order)
    for (int i = 0; i <= order; ++i) {
      const ValueId product = builder.dot(x[static_cast<size_t>(i)], y[static_cast<size_t>(order - i)]);
      sum = sum ? builder.binary(Opcode::Add, *sum, product) : product;
    }
  return *sum;
}

} // namespace nereid::detail

namespace nereid {

MxTransposed MxTile::transposed(Where where) const {
  const bool is_batch = codes.rank() == 3;
  const std::vector<int64_t> order = is_batch ? std::vector<int64_t>{0, 2, 1} : std::vector<int64_t>{1, 0};
  return {detail::make<u8>(detail::at(where).permute(codes.id(), order)), scales, format};
}

} // namespace nereid
