// Which rows of the public table were measured in its early campaign, from the table's own history.
#include "tools/calibrate/campaigns.h"

#include <algorithm>
#include <span>

namespace nereid::calibrate {
namespace {

constexpr size_t in_800[] = {16, 32, 64, 128, 256, 512, 1024, 4096, 8192};
constexpr size_t in_7168[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 16384, 32768};
constexpr size_t in_8192[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096, 8192, 16384, 32768};
constexpr size_t in_10240[] = {1, 2, 4, 8, 16, 32, 64, 128, 512, 1024, 4096, 8192, 16384};
constexpr size_t in_16384_2048[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 8192};
constexpr size_t in_16384_8192[] = {65536};
constexpr size_t in_57344[] = {1024, 2048, 4096, 8192, 16384};

/// A pair (N,K) of the early campaign, and the M of it that were measured again.
struct EarlyPair {
  size_t n, k;
  std::span<const size_t> later = {};
};

constexpr EarlyPair early_pairs[] = {
    {192, 1024},    {800, 5120, in_800},
    {5120, 1280},   {7168, 8192, in_7168},
    {8192, 1024},   {8192, 3584},
    {8192, 7168},   {8192, 8192, in_8192},
    {9216, 16384},  {10240, 8192, in_10240},
    {12800, 5120},  {13312, 16384},
    {14336, 8192},  {16384, 2048, in_16384_2048},
    {16384, 4096},  {16384, 8192, in_16384_8192},
    {16384, 26624}, {51200, 5120},
    {53248, 16384}, {57344, 8192, in_57344},
};

} // namespace

bool measured_early(const Shape &shape) {
  return std::any_of(std::begin(early_pairs), std::end(early_pairs), [&](const EarlyPair &pair) {
    return pair.n == shape.n && pair.k == shape.k &&
           std::find(pair.later.begin(), pair.later.end(), shape.m) == pair.later.end();
  });
}

} // namespace nereid::calibrate
