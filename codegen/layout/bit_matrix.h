#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nereid::codegen {

/// A matrix over GF(2) as its columns: bit i of the argument selects column i, and the result is the xor of
/// the selected columns. At most 64 rows and 64 columns.
class BitMatrix {
public:
  BitMatrix() = default;
  BitMatrix(unsigned rows, std::vector<uint64_t> columns);
  static BitMatrix identity(unsigned size);

  unsigned rows() const { return rows_; }
  unsigned size() const { return static_cast<unsigned>(columns_.size()); } ///< number of columns
  uint64_t column(unsigned i) const { return columns_[i]; }
  const std::vector<uint64_t> &columns() const { return columns_; }

  /// The product with the vector `x`.
  uint64_t apply(uint64_t x) const;
  /// `*this` after `inner`: (a * b).apply(x) == a.apply(b.apply(x)). Needs size() == inner.rows().
  BitMatrix operator*(const BitMatrix &inner) const;
  BitMatrix transpose() const;
  unsigned rank() const;
  /// The inverse of a square matrix of full rank, else nothing.
  std::optional<BitMatrix> inverse() const;
  /// `inverse` of a matrix that is known to have one.
  BitMatrix inverted() const;
  /// Some x with apply(x) == y, else nothing. Of all solutions the one that uses only columns that are no
  /// combination of columns before them: early columns win.
  std::optional<uint64_t> solve(uint64_t y) const;
  /// `solve` for a y that is known to be a combination of columns.
  uint64_t solution(uint64_t y) const;
  /// R with (*this * R) the identity on the rows, by the same choice as `solve`; nothing unless the rank is
  /// rows().
  std::optional<BitMatrix> right_inverse() const;
  /// Bit i is set where column i is a combination of the columns before it.
  uint64_t dependent_columns() const;
  /// A basis of the vectors that are mapped to zero.
  std::vector<uint64_t> kernel() const;

  bool operator==(const BitMatrix &) const = default;

private:
  unsigned rows_ = 0;
  std::vector<uint64_t> columns_;
};

} // namespace nereid::codegen
