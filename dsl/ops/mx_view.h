#pragma once

#include "dsl/ops/matrix.h"
#include "dsl/ops/view.h"

/// Microscaled matrices in global memory, in plain order or in the orders that AMD's libraries shuffle them
/// to (docs/kernels.md).
namespace nereid {

/// In which order codes or scales lie in memory.
enum class MxOrder {
  RowMajor, ///< codes [rows, k*bits/8] or scales [rows, k/32]
  Shuffled, ///< codes of 4 bits in blocks of 16 rows by 16 bytes, rows % 16 = 0; scales in blocks of 32 rows
            ///< by 8 of them, both dimensions padded to 256 values
};

/// How a microscaled matrix lies in memory, and what the author promises of its tiles, whose bounds are then
/// not checked.
struct MxViewOptions {
  Format format = e2m1;
  MxOrder codes = MxOrder::RowMajor;
  MxOrder scales = MxOrder::RowMajor;
  bool even_rows = false; ///< no tile goes beyond the last row
  bool even_k = false;    ///< nor beyond the last k
  bool is_small = false;  ///< fewer than 2^31 bytes of codes: offsets of rows by number take 32 bits
};

/// A microscaled matrix [rows, k] with its scales along k; k % 32 = 0. MxView2D<const u8> to read,
/// MxView2D<u8> to read and write. Positions and sizes count values, not bytes.
///
///     MxView2D b(b_codes, b_scales, {n, k});
///     sum += dot_scaled(x, b.load({first_column, first_k}, {64, 256}).transposed());
template <class Byte> class MxView2D {
  static_assert(std::same_as<std::remove_const_t<Byte>, u8>, "codes and scales are bytes: u8 or const u8");

public:
  /// Errors (user): as those of View2D; a format without scales, shuffled codes of other than 4 bits.
  MxView2D(const Ptr<Byte> &codes, const Ptr<Byte> &scales, const Extent2D &extent,
           const MxViewOptions &options = {}, Where where = Where::current());

  /// A tile of which first_k and k are multiples of 32, and with shuffled codes the rows multiples of 16.
  /// Beyond the matrix codes are 0 and scales any but NaN: such products are 0.
  MxTile load(const Position2D &position, const TileSize &tile,
              const detail::Read &read = detail::Read(Where::current())) const;

  /// The tile of n rows by number, i32 [n] or [n, 1], in any order; those below 0 or beyond the last are as
  /// what is beyond the matrix. Codes and scales are in row-major order: of shuffled ones an error.
  MxTile gather(const detail::Operand<i32> &row, const detail::Operand<i32> &first_k, int64_t k,
                const detail::Read &read = detail::Read(Where::current())) const;

  /// What of a tile is in the matrix; codes in row-major order. Padding of shuffled scales may be written, as
  /// 127.
  void store(const Position2D &position, const MxTile &tile,
             const detail::Effect &effect = detail::Effect(Where::current())) const
    requires(!std::is_const_v<Byte>);

  /// Matrix number `number` of several of this size, one after another.
  MxView2D matrix(const detail::Operand<i32> &number) const;

  const Int &rows() const { return rows_; }
  const Int &k() const { return k_; }

private:
  MxView2D(const detail::CallSite &, const Ptr<Byte> &codes, const Ptr<Byte> &scales, const Extent2D &extent,
           const MxViewOptions &options);
  MxView2D(const Ptr<Byte> &codes, const Ptr<Byte> &scales, const MxView2D &like)
      : codes_(codes), scales_(scales), rows_(like.rows_), k_(like.k_), options_(like.options_) {}

  Ptr<Byte> codes_, scales_;
  Int rows_, k_;
  MxViewOptions options_;
};

} // namespace nereid
