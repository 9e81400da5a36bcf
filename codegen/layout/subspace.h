#pragma once

#include <cstdint>
#include <vector>

namespace nereid::codegen {

/// A subspace of the vectors of 64 bits over GF(2), grown vector by vector. Its basis is made of the vectors
/// as they were added, so that whoever adds nice ones first gets them back.
class Subspace {
public:
  Subspace() = default;
  Subspace(const std::vector<uint64_t> &spanning) { add_all(spanning); }

  /// Whether the vector was not contained before.
  bool add(uint64_t vector);
  void add_all(const std::vector<uint64_t> &vectors);
  bool contains(uint64_t vector) const { return reduce(vector) == 0; }
  unsigned dimension() const { return static_cast<unsigned>(basis_.size()); }
  const std::vector<uint64_t> &basis() const { return basis_; }

private:
  uint64_t reduce(uint64_t vector) const;

  std::vector<uint64_t> basis_;
  std::vector<uint64_t> reduced_; ///< same span; each has a highest bit that no later one has
};

Subspace operator+(const Subspace &a, const Subspace &b);
/// A basis vector of `a` or `b` that lies in both is taken first.
Subspace intersection(const Subspace &a, const Subspace &b);
/// The unit vectors of `size` bits.
std::vector<uint64_t> unit_vectors(unsigned size);

} // namespace nereid::codegen
