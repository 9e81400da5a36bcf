#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nereid::interpreter {

/// Rows and columns that the product works on at a time; matrices are padded to them.
inline constexpr size_t block_rows = 4;
inline constexpr size_t block_columns = 8;

inline size_t padded(size_t size, size_t block) { return (size + block - 1) / block * block; }

/// a[row * k + i] and b[i * columns + column], rows and columns padded with zeros to whole blocks.
template <class T> struct Factors {
  size_t rows, columns, k; ///< padded
  std::vector<T> a, b;
  Factors(size_t m, size_t n, size_t k)
      : rows(padded(m, block_rows)), columns(padded(n, block_columns)), k(k), a(rows * k), b(k * columns) {}
};

/// Sums of a block's products over k from `first` to `last`, in the order of k, each product and each sum
/// rounded to T, on top of what `sums` holds.
template <class T>
void add_products(const Factors<T> &factors, size_t row, size_t column, size_t first, size_t last,
                  T (&sums)[block_rows][block_columns]);

extern template void add_products(const Factors<float> &, size_t, size_t, size_t, size_t,
                                  float (&)[block_rows][block_columns]);
extern template void add_products(const Factors<double> &, size_t, size_t, size_t, size_t,
                                  double (&)[block_rows][block_columns]);

} // namespace nereid::interpreter
