#pragma once

#include <deque>
#include <numbers>
#include <utility>
#include <vector>

#include "dsl/dsl.h"

/// Softmax by rows over keys that come block by block, times their values (online softmax, Milakov and
/// Gimelshein 2018; FlashAttention, Dao et al. 2022): what kernels of attention carry through their loops.
namespace nereid::kernels {

/// Keys in a row that a product's instructions want in a lane: 16 bytes.
template <class T> inline constexpr int key_run = static_cast<int>(16 / sizeof(T));

/// A view of x with its keys, along `axis`, in the order of the first product's result: 4 in a lane and the
/// next 4 in the next, where the second product wants key_run in a lane. Both its operands are reordered
/// alike, so its sums are the same and P stays in its lanes. The keys are a multiple of key_run * 64 / mfma.
template <class T> Tile<T> in_lane_order(const Tile<T> &x, int axis, int mfma) {
  const int64_t lanes = 64 / mfma, block = key_run<T> * lanes;
  std::vector<int64_t> split = x.shape();
  std::vector<int64_t> order;
  for (int64_t i = 0; i < x.rank() + 3; ++i)
    order.push_back(i);
  std::swap(order[axis + 1], order[axis + 2]);
  split[axis] /= block;
  split.insert(split.begin() + axis + 1, {key_run<T> / 4, lanes, 4});
  return reshape(permute(reshape(x, split), order), x.shape());
}

/// The running softmax of `rows` rows and its product with the values, f32 [rows, columns]; keys come in
/// blocks of a multiple of key_run * 64 / mfma.
class OnlineSoftmax {
public:
  /// Of a key that a row does not see: its weight is 0, and a row that sees none keeps zeros.
  static constexpr float unseen = -1e30F;

  /// `scale`: of the scores, 1e-6 to 1000. Output comes in `pieces` of so many columns, so that a lane's
  /// registers need not hold all values of a block of keys.
  OnlineSoftmax(int64_t rows, int64_t columns, int mfma, const Float &scale, int pieces = 1)
      : mfma_(mfma), log2_scale_(scale * std::numbers::log2e_v<float>),
        maximum_(full<f32>({rows, 1}, no_maximum)), total_(zeros<f32>({rows, 64 / mfma})) {
    for (int piece = 0; piece < pieces; ++piece)
      output_.emplace_back(zeros<f32>({rows, columns}));
  }

  /// Scores f32 [rows, keys] with `unseen` in place of those beyond the `last` key of each row: an Int or i32
  /// [rows, 1], counted from the first key of the block.
  template <class Last> Tile<f32> seen(const Tile<f32> &scores, const Last &last) const {
    const int64_t rows = scores.shape()[0], keys = scores.shape()[1], lanes = 64 / mfma_;
    const int64_t quads = keys / (4 * lanes);
    const auto along = [](int64_t size, int axis) {
      std::vector<int64_t> shape(4, 1);
      shape[axis] = size;
      return reshape(arange(0, size), shape);
    };
    // What lanes add is on the limit's side: the other one is a constant of the code.
    const Tile<i32> in_lane = along(quads, 1) * (4 * lanes) + along(4, 3);
    const Tile<i32> limit = reshape(last + zeros<i32>({rows, 1}), {rows, 1, 1, 1}) - along(lanes, 2) * 4;
    const Tile<f32> split = reshape(scores, {rows, quads, lanes, 4});
    return reshape(where(in_lane <= limit, split, unseen), scores.shape());
  }

  /// The next keys: scores [rows, keys]; `load_values(piece)` gives the values [keys, columns], to whose
  /// element weights are rounded. They are loaded where what came before has been rescaled: no read of LDS
  /// crosses the branch around that.
  template <class Load> void add(const Tile<f32> &scores, const Load &load_values) {
    const Tile<f32> grown = max(max(scores, keep_axis(1)), maximum_.get());
    const Tile<f32> growth = (grown - maximum_.get()) * log2_scale_;
    const Tile<i1> grows = growth > max_growth;
    const Tile<f32> rescale = where(grows, fast::exp2(-growth), 1.0F);
    maximum_ = where(grows, grown, maximum_.get());
    for (Var<Tile<f32>> &output : output_)
      output = output * rescale;
    const auto values = load_values(0);
    using T = typename std::decay_t<decltype(values)>::element_type;
    const Tile<f32> weights = fast::exp2(fma(scores, log2_scale_, maximum_.get() * -log2_scale_));
    total_ = fma(total_.get(), rescale, sum_in_lanes(weights));
    const Tile<T> rounded = in_lane_order(weights.template to<T>(), 1, mfma_);
    for (size_t piece = 0; piece < output_.size(); ++piece) {
      const Tile<T> of_piece = piece == 0 ? values : load_values(static_cast<int>(piece));
      output_[piece] = output_[piece] + dot(rounded, in_lane_order(of_piece, 0, mfma_));
    }
  }

  /// The weighted mean of the values, [rows, columns] of a piece.
  Tile<f32> result(int piece = 0) const {
    const Tile<f32> all = total();
    return output_[static_cast<size_t>(piece)] * where(all > 0, 1.0F / all, 0);
  }
  /// log2 of the sum of exp(score), [rows, 1], by which parts of the keys are put together; of a row that saw
  /// none far below all others.
  Tile<f32> log2_sum() const {
    const Tile<f32> all = total();
    return where(all > 0, fma(maximum_.get(), log2_scale_, log2(max(all, 1e-30F))), unseen);
  }

private:
  /// The maximum stays as long as weights are at most 2^max_growth: then nothing is rescaled, and a wave
  /// skips it (lazy rescaling, FlashAttention-4). Weights are as exact as relative to the true maximum, and
  /// fp8 holds them.
  static constexpr float max_growth = 8;
  /// exp2 of the difference of an unseen score and this one is 0.
  static constexpr float no_maximum = -5e29F;

  Tile<f32> total() const { return sum(total_.get(), keep_axis(1)); }
  /// Of what each lane holds of a row: [rows, lanes]. Lanes are added up at the end.
  Tile<f32> sum_in_lanes(const Tile<f32> &x) const {
    const int64_t rows = x.shape()[0], keys = x.shape()[1], lanes = 64 / mfma_;
    const Tile<f32> quads = permute(reshape(x, {rows, keys / (4 * lanes), lanes, 4}), {0, 2, 1, 3});
    return sum(reshape(quads, {rows, lanes, keys / lanes}), axis(2));
  }

  int mfma_;
  Float log2_scale_;
  Var<Tile<f32>> maximum_, total_;
  std::deque<Var<Tile<f32>>> output_; ///< by piece; a Var does not move
};

} // namespace nereid::kernels
