// Matrices over GF(2): one Gaussian elimination serves rank, inverse, equations and kernel.
#include "codegen/layout/bit_matrix.h"

#include <bit>
#include <utility>

#include "codegen/layout/bits.h"
#include "codegen/layout/layout_error.h"

namespace nereid::codegen {

namespace {

/// Gaussian elimination, one vector at a time. Each kept vector has a highest bit of its own and remembers of
/// which inserted columns it is the sum.
class Elimination {
public:
  struct Reduced {
    uint64_t rest = 0;  ///< what no kept vector can cancel
    uint64_t terms = 0; ///< the columns whose sum was cancelled
  };

  Reduced reduce(uint64_t vector) const {
    Reduced r{vector, 0};
    for (const Kept &kept : kept_)
      if (r.rest >> kept.pivot & 1) {
        r.rest ^= kept.vector;
        r.terms ^= kept.terms;
      }
    return r;
  }

  /// Whether `vector`, called column `id`, was independent of those before.
  bool insert(uint64_t vector, unsigned id) {
    Reduced r = reduce(vector);
    if (!r.rest)
      return false;
    kept_.push_back({r.rest, r.terms ^ (uint64_t(1) << id), 63u - std::countl_zero(r.rest)});
    return true;
  }

  unsigned rank() const { return static_cast<unsigned>(kept_.size()); }

private:
  struct Kept {
    uint64_t vector;
    uint64_t terms;
    unsigned pivot;
  };
  std::vector<Kept> kept_;
};

Elimination eliminate(const BitMatrix &matrix) {
  Elimination elimination;
  for (unsigned i = 0; i < matrix.size(); ++i)
    elimination.insert(matrix.column(i), i);
  return elimination;
}

} // namespace

BitMatrix::BitMatrix(unsigned rows, std::vector<uint64_t> columns)
    : rows_(rows), columns_(std::move(columns)) {
  require_layout(rows_ <= 64 && columns_.size() <= 64, "a matrix has more than 64 rows or columns");
  for (uint64_t column : columns_)
    require_layout((column & ~low_mask(rows_)) == 0, "a column leaves the matrix");
}

BitMatrix BitMatrix::identity(unsigned size) {
  std::vector<uint64_t> columns(size);
  for (unsigned i = 0; i < size; ++i)
    columns[i] = uint64_t(1) << i;
  return BitMatrix(size, std::move(columns));
}

uint64_t BitMatrix::apply(uint64_t x) const {
  require_layout((x & ~low_mask(size())) == 0, "a vector leaves the matrix");
  uint64_t sum = 0;
  for (; x; x &= x - 1)
    sum ^= columns_[std::countr_zero(x)];
  return sum;
}

BitMatrix BitMatrix::operator*(const BitMatrix &inner) const {
  require_layout(size() == inner.rows(), "the sizes of the factors differ");
  std::vector<uint64_t> columns;
  columns.reserve(inner.size());
  for (uint64_t column : inner.columns_)
    columns.push_back(apply(column));
  return BitMatrix(rows_, std::move(columns));
}

BitMatrix BitMatrix::transpose() const {
  std::vector<uint64_t> columns(rows_);
  for (unsigned j = 0; j < size(); ++j)
    for (unsigned i = 0; i < rows_; ++i)
      columns[i] |= (columns_[j] >> i & 1) << j;
  return BitMatrix(size(), std::move(columns));
}

unsigned BitMatrix::rank() const { return eliminate(*this).rank(); }

std::optional<BitMatrix> BitMatrix::inverse() const {
  if (size() != rows_)
    return std::nullopt;
  return right_inverse();
}

BitMatrix BitMatrix::inverted() const {
  std::optional<BitMatrix> result = inverse();
  require_layout(result.has_value(), "a matrix has no inverse");
  return *result;
}

std::optional<uint64_t> BitMatrix::solve(uint64_t y) const {
  Elimination::Reduced r = eliminate(*this).reduce(y);
  if (r.rest)
    return std::nullopt;
  return r.terms;
}

uint64_t BitMatrix::solution(uint64_t y) const {
  std::optional<uint64_t> result = solve(y);
  require_layout(result.has_value(), "a vector is no combination of the columns");
  return *result;
}

std::optional<BitMatrix> BitMatrix::right_inverse() const {
  Elimination elimination = eliminate(*this);
  if (elimination.rank() != rows_)
    return std::nullopt;
  std::vector<uint64_t> columns;
  columns.reserve(rows_);
  for (unsigned i = 0; i < rows_; ++i)
    columns.push_back(elimination.reduce(uint64_t(1) << i).terms);
  return BitMatrix(size(), std::move(columns));
}

uint64_t BitMatrix::dependent_columns() const {
  Elimination elimination;
  uint64_t dependent = 0;
  for (unsigned i = 0; i < size(); ++i)
    if (!elimination.insert(columns_[i], i))
      dependent |= uint64_t(1) << i;
  return dependent;
}

std::vector<uint64_t> BitMatrix::kernel() const {
  Elimination elimination;
  std::vector<uint64_t> vectors;
  for (unsigned i = 0; i < size(); ++i) {
    Elimination::Reduced r = elimination.reduce(columns_[i]);
    if (r.rest)
      elimination.insert(columns_[i], i);
    else
      vectors.push_back(r.terms ^ (uint64_t(1) << i));
  }
  return vectors;
}

} // namespace nereid::codegen
