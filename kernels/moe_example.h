#pragma once

#include "kernels/moe_up.h"

/// Launches of a mixture's products without a caller's operands.
namespace nereid::kernels {

/// Numbers of the products' launches.
template <class Config, class Operands>
inline constexpr LaunchNumber<Config, Operands> moe_numbers[] = {
    {"experts", [](auto &operands, int64_t value) { operands.rows.experts = static_cast<int>(value); },
     [](const auto &) { return int64_t{32}; }},
    {"top_k", [](auto &operands, int64_t value) { operands.rows.top_k = static_cast<int>(value); },
     [](const auto &) { return int64_t{4}; }},
};

/// What moe_sort gives where m rows go to their top_k experts in turn; sets the blocks of `rows`.
LaunchIndices equal_moe_shares(const TileConfig &tile, int64_t m, MoeRows &rows);

} // namespace nereid::kernels
