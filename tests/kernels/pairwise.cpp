#include "tests/kernels/pairwise.h"

#include <array>
#include <set>

namespace nereid::kernels::test {
namespace {

/// Factor, value, later factor, its value.
using Pair = std::array<size_t, 4>;

Pair pair_of(size_t a, size_t a_value, size_t b, size_t b_value) {
  return a < b ? Pair{a, a_value, b, b_value} : Pair{b, b_value, a, a_value};
}

std::set<Pair> all_pairs(const std::vector<size_t> &sizes) {
  std::set<Pair> pairs;
  for (size_t a = 0; a < sizes.size(); ++a)
    for (size_t b = a + 1; b < sizes.size(); ++b)
      for (size_t i = 0; i < sizes[a]; ++i)
        for (size_t j = 0; j < sizes[b]; ++j)
          pairs.insert({a, i, b, j});
  return pairs;
}

} // namespace

std::vector<std::vector<size_t>> pairwise(const std::vector<size_t> &sizes) {
  std::set<Pair> open = all_pairs(sizes);
  std::vector<std::vector<size_t>> rows;
  while (!open.empty()) {
    const Pair seed = *open.begin();
    std::vector<size_t> row(sizes.size(), 0);
    std::vector<size_t> chosen = {seed[0], seed[2]};
    row[seed[0]] = seed[1];
    row[seed[2]] = seed[3];
    for (size_t factor = 0; factor < sizes.size(); ++factor) {
      if (factor == seed[0] || factor == seed[2])
        continue;
      size_t best_count = 0;
      for (size_t step = 0; step < sizes[factor]; ++step) {
        const size_t value = (step + rows.size()) % sizes[factor];
        size_t count = 1;
        for (size_t other : chosen)
          count += open.count(pair_of(factor, value, other, row[other]));
        if (count > best_count) {
          best_count = count;
          row[factor] = value;
        }
      }
      chosen.push_back(factor);
    }
    for (size_t a = 0; a < row.size(); ++a)
      for (size_t b = a + 1; b < row.size(); ++b)
        open.erase({a, row[a], b, row[b]});
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::vector<size_t>> full_product(const std::vector<size_t> &sizes) {
  std::vector<std::vector<size_t>> rows = {{}};
  for (size_t size : sizes) {
    std::vector<std::vector<size_t>> longer;
    for (const std::vector<size_t> &row : rows)
      for (size_t value = 0; value < size; ++value) {
        longer.push_back(row);
        longer.back().push_back(value);
      }
    rows = std::move(longer);
  }
  return rows;
}

} // namespace nereid::kernels::test
