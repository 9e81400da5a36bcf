// Sorting by expert: counts of chunks, their sums over the chunks before, places, and what fills up blocks.
#include "kernels/moe_sort.h"

#include <fmt/format.h>

#include "kernels/mxfp4_grouped_gemm.h"

namespace nereid::kernels {
namespace {

/// Chunks and experts whose counts a program adds up at a time.
constexpr int scan_chunks = 64;
constexpr int scan_experts = 16;

/// Which expert each id of a chunk names: i1 [chunk, experts].
Tile<i1> is_of_expert(const MoeSortConfig &config, const Tile<i32> &id, const Int &experts) {
  const Tile<i32> expert = cols(config.experts);
  return (id == expert) & (expert < experts);
}

Tile<i32> load_chunk(const MoeSortConfig &config, const Ptr<const i32> &ids, const Int &count) {
  const Tile<i32> index = program_id(0) * config.chunk + rows(config.chunk);
  return load(ids + index, index < count, -1);
}

/// counts[chunk, expert] of the ids of each chunk. Programs: chunks.
void moe_count(const MoeSortConfig &config, Ptr<const i32> ids, Ptr<i32> counts, Int count, Int experts) {
  const Tile<i1> is_of = is_of_expert(config, load_chunk(config, ids, count), experts);
  const Tile<i32> expert = cols(config.experts);
  store(counts + program_id(0) * experts + expert, sum(is_of.to<i32>(), keep_axis(0)), expert < experts);
}

/// Each count becomes the sum of those of the chunks before; totals[expert] that of all. Programs: experts in
/// blocks.
void moe_scan(const MoeSortConfig &, Ptr<i32> counts, Ptr<i32> totals, Int chunks, Int experts) {
  const Tile<i32> expert = program_id(0) * scan_experts + cols(scan_experts);
  const Tile<i1> is_expert = expert < experts;
  Var before = zeros<i32>({1, scan_experts});
  for (Int first : range(0, chunks, scan_chunks)) {
    const Tile<i32> chunk = first + rows(scan_chunks);
    const Ptr<i32> at = counts + chunk * experts + expert;
    const Tile<i1> in_bounds = (chunk < chunks) & is_expert;
    const Tile<i32> number = load(at, in_bounds);
    store(at, before + cumsum(number, 0) - number, in_bounds);
    before += sum(number, keep_axis(0));
  }
  store(totals + expert, before, is_expert);
}

/// Blocks of each expert and of those before it: i32 [1, experts].
struct ExpertBlocks {
  Tile<i32> total;
  Tile<i32> count;
  Tile<i32> end;
};

ExpertBlocks expert_blocks(const MoeSortConfig &config, const Ptr<const i32> &totals, const Int &experts) {
  const Tile<i32> expert = cols(config.experts);
  const Tile<i32> total = load(totals + expert, expert < experts);
  const Tile<i32> count = (total + (config.block_m - 1)) / config.block_m;
  return {total, count, cumsum(count, 1)};
}

/// Programs: chunks.
void moe_place(const MoeSortConfig &config, Ptr<const i32> ids, Ptr<const i32> counts, Ptr<const i32> totals,
               Ptr<i32> sorted, Ptr<i32> places, Int count, Int experts) {
  const Tile<i1> is_of = is_of_expert(config, load_chunk(config, ids, count), experts);
  const Tile<i32> expert = cols(config.experts);
  const ExpertBlocks blocks = expert_blocks(config, totals, experts);
  const Tile<i32> before = load(counts + program_id(0) * experts + expert, expert < experts);
  const Tile<i32> first = (blocks.end - blocks.count) * config.block_m + before;
  // 1 for the first of an expert in the chunk.
  const Tile<i32> number = cumsum(is_of.to<i32>(), 0);
  // 0 for what is skipped.
  const Tile<i32> place = sum(where(is_of, first + number, 0), keep_axis(1)) - 1;
  const Tile<i32> index = program_id(0) * config.chunk + rows(config.chunk);
  store(places + index, place, index < count);
  store(sorted + place, index, place >= 0);
}

/// Programs: blocks.
void moe_fill(const MoeSortConfig &config, Ptr<const i32> totals, Ptr<i32> sorted, Ptr<i32> block_experts,
              Int experts) {
  const Int block = program_id(0);
  const ExpertBlocks blocks = expert_blocks(config, totals, experts);
  const Tile<i1> earlier = blocks.end <= block;
  const Tile<i32> expert = sum(earlier.to<i32>(), keep_axis(1));
  const Tile<i1> mine = cols(config.experts) == expert;
  const Tile<i32> first_block = sum(where(earlier, blocks.count, 0), keep_axis(1));
  // 0 and less beyond the last block, where no expert is mine.
  const Tile<i32> left =
      sum(where(mine, blocks.total, 0), keep_axis(1)) - (block - first_block) * config.block_m;
  store(block_experts + block + zeros<i32>({1, 1}), where(expert < config.experts, expert, -1));
  const Tile<i32> row = cols(config.block_m);
  store(sorted + block * config.block_m + row, -1, row >= left);
}

int64_t chunks_of(const MoeSortConfig &config, int64_t ids) { return blocks(ids, config.chunk); }

template <auto function, class... A>
Result<LaunchRecord> launch_part(const LaunchTarget &target, std::string_view name,
                                 const MoeSortConfig &config, int64_t programs, const A &...arguments) {
  const BoundKernel part = bind_kernel<function>(name, config, arguments...);
  NEREID_TRY(LaunchInfo info, part.launch(target.options, target.stream, Grid{programs}));
  return LaunchRecord{config_values(config), std::move(info)};
}

} // namespace

int64_t MoeSortSize::max_blocks(const MoeSortConfig &config) const {
  return grouped_row_blocks(ids, experts, config.block_m);
}

int64_t MoeSortSize::scratch_bytes(const MoeSortConfig &config) const {
  return (chunks_of(config, ids) + 1) * experts * 4;
}

Result<std::vector<LaunchRecord>> launch_moe_sort(const LaunchTarget &target, const MoeSortConfig &config,
                                                  const MoeSortSize &size, const MoeSortOperands &operands) {
  if (size.experts < 1 || size.experts > config.experts)
    return user_error(
        fmt::format("moe_sort: {} experts, its config has experts={}", size.experts, config.experts));
  if (size.ids < 1 || size.sorted_rows(config) > INT32_MAX)
    return user_error(fmt::format("moe_sort: {} ids", size.ids), "sort from 1 to 2^31 of them");
  const int64_t chunks = chunks_of(config, size.ids), counts_bytes = chunks * size.experts * 4;
  const NeededMemory needed[] = {{"scratch", operands.scratch, size.scratch_bytes(config), "scratch_bytes"}};
  NEREID_CHECK(check_memory("moe_sort", needed));
  const DeviceMemory totals_memory{operands.scratch.address + static_cast<uint64_t>(counts_bytes),
                                   static_cast<size_t>(size.experts * 4)};
  const MemoryArgument<const i32> ids{"ids", operands.ids, size.ids * 4, "i32 [ids]"};
  const MemoryArgument<i32> counts{"counts", operands.scratch, counts_bytes, "i32 [chunks, experts]"};
  const MemoryArgument<i32> totals{"totals", totals_memory, size.experts * 4, "i32 [experts]"};
  const MemoryArgument<const i32> read_counts{"counts", operands.scratch, counts_bytes, counts.layout};
  const MemoryArgument<const i32> read_totals{"totals", totals_memory, totals.bytes, totals.layout};
  const MemoryArgument<i32> sorted{"sorted", operands.sorted, size.sorted_rows(config) * 4,
                                   "i32 [sorted_rows]"};
  const MemoryArgument<i32> block_experts{"block_experts", operands.block_experts,
                                          size.max_blocks(config) * 4, "i32 [max_blocks]"};
  const MemoryArgument<i32> places{"places", operands.places, size.ids * 4, "i32 [ids]"};
  const NumberArgument count{"count", static_cast<int32_t>(size.ids)};
  const NumberArgument experts{"experts", static_cast<int32_t>(size.experts)};

  NEREID_TRY(LaunchRecord counted,
             launch_part<moe_count>(target, "moe_count", config, chunks, ids, counts, count, experts));
  NEREID_TRY(LaunchRecord summed,
             launch_part<moe_scan>(target, "moe_scan", config, blocks(size.experts, scan_experts), counts,
                                   totals, NumberArgument{"chunks", static_cast<int32_t>(chunks)}, experts));
  NEREID_TRY(LaunchRecord placed,
             launch_part<moe_place>(target, "moe_place", config, chunks, ids, read_counts, read_totals,
                                    sorted, places, count, experts));
  NEREID_TRY(LaunchRecord filled, launch_part<moe_fill>(target, "moe_fill", config, size.max_blocks(config),
                                                        read_totals, sorted, block_experts, experts));
  return std::vector{std::move(counted), std::move(summed), std::move(placed), std::move(filled)};
}

} // namespace nereid::kernels
