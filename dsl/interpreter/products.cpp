// Sums of products for blocks of a matrix, in the order that the language fixes.
#include "dsl/interpreter/products.h"

#include <cstring>

namespace nereid::interpreter {

template <class T>
void add_products(const Factors<T> &factors, size_t row, size_t column, size_t first, size_t last,
                  T (&sums)[block_rows][block_columns]) {
  // Vectors of the size that every x86-64 has; products and sums are two roundings (no fused operation).
  typedef T Vector __attribute__((vector_size(16)));
  constexpr size_t lanes = 16 / sizeof(T);
  constexpr size_t vectors = block_columns / lanes;
  for (size_t half = 0; half < block_rows; half += 2) {
    Vector s[2][vectors];
    std::memcpy(s, sums[half], sizeof s);
    const T *a0 = &factors.a[(row + half) * factors.k];
    const T *a1 = a0 + factors.k;
    for (size_t i = first; i < last; ++i) {
      Vector b[vectors];
      std::memcpy(b, &factors.b[i * factors.columns + column], sizeof b);
      for (size_t v = 0; v < vectors; ++v) {
        s[0][v] += b[v] * a0[i];
        s[1][v] += b[v] * a1[i];
      }
    }
    std::memcpy(sums[half], s, sizeof s);
  }
}

template void add_products(const Factors<float> &, size_t, size_t, size_t, size_t,
                           float (&)[block_rows][block_columns]);
template void add_products(const Factors<double> &, size_t, size_t, size_t, size_t,
                           double (&)[block_rows][block_columns]);

} // namespace nereid::interpreter
