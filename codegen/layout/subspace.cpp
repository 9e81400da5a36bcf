// Subspaces of GF(2)^64 by their bases.
#include "codegen/layout/subspace.h"

#include <bit>

#include "codegen/layout/bit_matrix.h"
#include "codegen/layout/bits.h"

namespace nereid::codegen {

uint64_t Subspace::reduce(uint64_t vector) const {
  for (uint64_t kept : reduced_)
    if (vector & std::bit_floor(kept))
      vector ^= kept;
  return vector;
}

bool Subspace::add(uint64_t vector) {
  const uint64_t rest = reduce(vector);
  if (rest == 0)
    return false;
  reduced_.push_back(rest);
  basis_.push_back(vector);
  return true;
}

void Subspace::add_all(const std::vector<uint64_t> &vectors) {
  for (uint64_t vector : vectors)
    add(vector);
}

Subspace operator+(const Subspace &a, const Subspace &b) {
  Subspace sum = a;
  sum.add_all(b.basis());
  return sum;
}

Subspace intersection(const Subspace &a, const Subspace &b) {
  Subspace result;
  for (uint64_t vector : a.basis())
    if (b.contains(vector))
      result.add(vector);
  for (uint64_t vector : b.basis())
    if (a.contains(vector))
      result.add(vector);
  // A vanishing sum of vectors of both bases is a vector of a that equals one of b.
  std::vector<uint64_t> both = a.basis();
  both.insert(both.end(), b.basis().begin(), b.basis().end());
  const BitMatrix of_a(64, a.basis());
  for (uint64_t relation : BitMatrix(64, both).kernel())
    result.add(of_a.apply(relation & low_mask(a.dimension())));
  return result;
}

std::vector<uint64_t> unit_vectors(unsigned size) { return BitMatrix::identity(size).columns(); }

} // namespace nereid::codegen
