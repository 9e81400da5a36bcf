// Operands of matrix instructions in LDS: which are brought there, by which lanes, and the swizzle that
// keeps their reads apart in the banks.
#include "codegen/schedule/lds_image.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/byte_text.h"
#include "codegen/assign/memory_layout.h"
#include "codegen/convert/lds_banks.h"
#include "codegen/target/gfx950.h"

namespace nereid::codegen {

namespace {

constexpr uint64_t min_row_bytes = 64, max_row_bytes = 1024;

const AxisInfo *mask_of(const AxisAnalysis &axes, const ir::Op &load) {
  return load.operands.size() > 1 ? &axes[load.operands[1]] : nullptr;
}

VectorAccess access_of(const ir::Function &function, const AxisAnalysis &axes, const ir::Op &load,
                       const LinearLayout &layout) {
  return vector_access(layout, axes[load.operands[0]], mask_of(axes, load),
                       ir::byte_size(function.type(load.result()).element));
}

/// Bytes in a row that one load instruction of a wave covers.
unsigned wave_run(const ir::Function &function, const AxisAnalysis &axes, const ir::Op &load,
                  const LinearLayout &layout) {
  const unsigned bytes = ir::byte_size(function.type(load.result()).element);
  const std::vector<uint64_t> &lanes = layout.bases(Space::Lane);
  const int64_t contiguity = axes[load.operands[0]].contiguity.back();
  unsigned run = access_of(function, axes, load, layout).elements();
  while (run < contiguity && std::find(lanes.begin(), lanes.end(), run) != lanes.end())
    run *= 2;
  return run * bytes;
}

/// Whether lanes, and then waves, walk through memory, each lane with 16 bytes of it.
bool follows_memory(const LinearLayout &layout, unsigned elements) {
  for (unsigned bit = 0; bit < layout.bits(Space::Lane); ++bit)
    if (layout.flat_basis(Space::Lane, bit) != uint64_t(elements) << bit)
      return false;
  for (unsigned bit = 0; (1u << bit) < elements; ++bit)
    if (layout.flat_basis(Space::Register, bit) != uint64_t(1) << bit)
      return false;
  return std::all_of(layout.repeats().begin(), layout.repeats().end(),
                     [](const Repeat &repeat) { return repeat.owner == Space::Register && repeat.dim == 0; });
}

} // namespace

LdsImage::LdsImage(const ir::Type &type, LinearLayout copies, LinearLayout home)
    : LdsImage(type, std::move(copies), std::move(home), 0) {
  swizzle_rows();
}

LdsImage::LdsImage(const ir::Type &type, LinearLayout copies, TransposedRead read)
    : LdsImage(type, std::move(copies), std::move(read.source), read.log2_elements) {
  swizzle_transposed_rows();
}

LdsImage::LdsImage(const ir::Type &type, LinearLayout copies, LinearLayout reads,
                   unsigned transposed_elements)
    : copies_(std::move(copies)), reads_(std::move(reads)), transposed_elements_(transposed_elements),
      row_parts_(copies_.dim(0).bits), row_elements_(static_cast<uint64_t>(type.shape[1])),
      element_bytes_(ir::byte_size(type.element)),
      bytes_(static_cast<unsigned>(type.count() * ir::byte_size(type.element))) {}

/// Bank conflicts: lanes that are served together read the same part of 16 rows. Rows of 256 bytes and more
/// start in the same bank, so that the row's number is added (xor) to that of the 16-byte part; shorter rows
/// share a line of the banks and need less.
void LdsImage::swizzle_rows() {
  constexpr uint64_t rows_together = 16;
  for (unsigned bit = 0; bit < row_parts_.size(); ++bit)
    row_parts_[bit] =
        parts() == 4 ? (bit == 3 ? 3 : 0) : (uint64_t(1) << bit) & (std::min(parts(), rows_together) - 1);
}

/// 32 lanes are served together (as by ds_read_b64), which read 16 neighbours of several rows each: rows that
/// begin in the same bank exchange blocks of 16 neighbours.
void LdsImage::swizzle_transposed_rows() {
  constexpr unsigned lane_bits_together = 5, neighbours = 16;
  const uint64_t block_parts = neighbours * element_bytes_ / copy_bytes;
  const unsigned row_bits = reads_.dim(1).bits;
  uint64_t taken = 0; // blocks that lanes tell apart already
  for (unsigned bit = 0; bit < lane_bits_together; ++bit)
    if (const uint64_t lane = reads_.flat_basis(Space::Lane, bit); lane >> row_bits == 0)
      taken |= lane / neighbours;
  for (unsigned bit = 0; bit < lane_bits_together; ++bit) {
    const uint64_t row = reads_.flat_basis(Space::Lane, bit) >> row_bits;
    if (!std::has_single_bit(row) || row * row_elements_ * element_bytes_ < gfx950::lds_line_bytes)
      continue;
    uint64_t block = 1;
    while (taken & block)
      block <<= 1;
    if (block * block_parts < parts()) {
      row_parts_[static_cast<unsigned>(std::countr_zero(row))] = block * block_parts;
      taken |= block;
    }
  }
}

/// Of one read of a wave.
unsigned LdsImage::read_clocks() const {
  std::vector<uint32_t> addresses = {0};
  for (unsigned bit = 0; bit < reads_.bits(Space::Lane); ++bit)
    for (size_t lane = 0, lanes = addresses.size(); lane < lanes; ++lane)
      addresses.push_back(
          addresses[lane] ^
          static_cast<uint32_t>(swizzled(reads_.flat_basis(Space::Lane, bit)) * element_bytes_));
  return lds_clocks(LdsDirection::Read, transposes() ? TransposedRead::bytes : copy_bytes, addresses);
}

void LdsImage::unite(LdsImage &a, LdsImage &b) {
  LdsImage &fixed = a.transposes() ? a : b, &other = a.transposes() ? b : a;
  const std::vector<uint64_t> wanted = other.row_parts_;
  const uint64_t parts_of_line = std::min<uint64_t>(other.parts(), gfx950::lds_line_bytes / copy_bytes);
  other.row_parts_ = fixed.row_parts_;
  for (unsigned bit = 0; bit < wanted.size(); ++bit) {
    if (other.row_parts_[bit] != 0 || wanted[bit] == 0)
      continue;
    std::pair<unsigned, uint64_t> best = {other.read_clocks(), 0};
    for (uint64_t part = 1; part < parts_of_line; ++part) {
      other.row_parts_[bit] = part;
      best = std::min(best, {other.read_clocks(), part});
    }
    other.row_parts_[bit] = best.second;
  }
  fixed.row_parts_ = other.row_parts_;
}

uint64_t LdsImage::swizzled(uint64_t flat) const {
  const uint64_t row = flat / row_elements_;
  uint64_t part = 0;
  for (unsigned bit = 0; bit < row_parts_.size(); ++bit)
    part ^= row >> bit & 1 ? row_parts_[bit] : 0;
  return flat ^ part * (copy_bytes / element_bytes_);
}

LinearLayout LdsImage::swizzled(const LinearLayout &layout) const {
  std::array<std::vector<uint64_t>, 3> bases;
  for (Space space : all_spaces)
    for (uint64_t basis : layout.bases(space))
      bases[static_cast<unsigned>(space)].push_back(swizzled(basis));
  return LinearLayout::from_flat_bases(layout.shape(), bases, layout.repeats());
}

uint32_t LdsImage::offset(const LinearLayout &layout, uint32_t reg, bool swizzles) const {
  uint64_t flat = 0;
  for (unsigned bit = 0; bit < layout.bits(Space::Register); ++bit)
    if (reg >> bit & 1)
      flat ^= layout.flat_basis(Space::Register, bit);
  const uint32_t repeat = reg >> layout.bits(Space::Register);
  return static_cast<uint32_t>((swizzles ? swizzled(flat) : flat) * element_bytes_) +
         repeat * (uint32_t(element_bytes_) << layout.coordinate_bits());
}

bool wants_lds(const FunctionIndex &index, const AxisAnalysis &axes, const LayoutChoice &layouts,
               const ir::Op &load) {
  const LinearLayout &home = layouts.layout(load.result());
  return wants_transposed_reads(index.function(), axes, load, home) ||
         (home.free_mask(Space::Wave) != 0 &&
          wave_run(index.function(), axes, load, home) < gfx950::cache_line_bytes);
}

Decision<LdsImage> choose_lds_image(const FunctionIndex &index, const AxisAnalysis &axes,
                                    const LayoutChoice &layouts, const ir::Op &load) {
  const ir::Function &function = index.function();
  const ir::Type &type = function.type(load.result());
  const unsigned bytes = ir::byte_size(type.element);
  const AxisInfo &pointer = axes[load.operands[0]];
  const auto access_bytes = [&](const LinearLayout &layout) {
    return access_of(function, axes, load, layout).elements() * bytes;
  };
  if (type.rank() != 2 || pointer.contiguity[1] < pointer.contiguity[0])
    return Objection{&load, "the tile is not a row-major matrix"};
  const auto row_bytes = static_cast<uint64_t>(type.shape[1]) * bytes;
  if (!std::has_single_bit(row_bytes) || row_bytes < min_row_bytes || row_bytes > max_row_bytes)
    return Objection{&load,
                     fmt::format("a row of the tile has {} bytes, which is no power of two from {} to {}",
                                 row_bytes, min_row_bytes, max_row_bytes)};
  const LinearLayout &home = layouts.layout(load.result());
  const bool transposes = wants_transposed_reads(function, axes, load, home);
  if (const unsigned wide = access_bytes(home); !transposes && wide != LdsImage::copy_bytes)
    return Objection{&load, fmt::format("a lane reads {} at a time as far as alignment, contiguity "
                                        "and mask are known, not {}",
                                        byte_text(wide), LdsImage::copy_bytes)};
  LinearLayout copies =
      coalesced_layout(type.shape, pointer, mask_of(axes, load), bytes, function.options.waves);
  if (access_bytes(copies) != LdsImage::copy_bytes)
    return Objection{&load, "the copy of a lane would be narrower than 16 bytes"};
  // A tile without an odd factor that is so small has no 16 bytes for each lane.
  if (copies.free_mask(Space::Lane) != 0 || copies.free_mask(Space::Wave) != 0)
    return Objection{&load,
                     fmt::format("the tile has an odd factor, and what is left, {} x {}, is less than a "
                                 "copy of each wave",
                                 1u << copies.dim(0).bits, 1u << copies.dim(1).bits)};
  if (!follows_memory(copies, LdsImage::copy_bytes / bytes))
    return Objection{&load, "the tile's odd factor is not one of its rows"};
  return transposes ? LdsImage(type, std::move(copies), *transposed_read(home, bytes))
                    : LdsImage(type, std::move(copies), home);
}

} // namespace nereid::codegen
