#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/layout/bit_matrix.h"
#include "dsl/ir/type.h"

namespace nereid::codegen {

/// Where a bit of a value's position lies. Registers count elements of a lane, whatever their width; lanes
/// are those of a wave, waves those of a workgroup.
enum class Space : uint8_t { Register, Lane, Wave };

inline constexpr std::array<Space, 3> all_spaces = {Space::Register, Space::Lane, Space::Wave};

/// "register", "lane", "wave".
const char *space_name(Space space);

/// Where one element can be: element register `reg` of lane `lane` of wave `wave`.
struct Position {
  uint32_t reg = 0;
  uint32_t lane = 0;
  uint32_t wave = 0;
  bool operator==(const Position &) const = default;
};

/// One coordinate a dimension.
using Coordinates = std::vector<uint32_t>;

/// A dimension of a tile: odd * 2^bits elements. A coordinate is (odd index) * 2^bits + (low bits).
struct Dimension {
  unsigned bits = 0;
  uint32_t odd = 1;

  static Dimension of(int64_t size);
  int64_t size() const { return static_cast<int64_t>(odd) << bits; }
  bool operator==(const Dimension &) const = default;
};

/// An odd factor of registers or waves. It walks over the odd index of a dimension, or broadcasts. Where a
/// space has several, the earlier in the list is the faster; all lie above the space's bits.
struct Repeat {
  static constexpr int broadcast = -1;

  Space owner = Space::Register; ///< Register or Wave
  uint32_t count = 1;            ///< odd, more than 1
  int dim = broadcast;           ///< the dimension walked over, or `broadcast`
  bool operator==(const Repeat &) const = default;
};

/// The flat bases of each space, in the order of `all_spaces`.
using Bases = std::array<std::vector<uint64_t>, 3>;

/// How a tile lies in the registers of a workgroup: a linear map over GF(2) from the bits of (register, lane,
/// wave) to the bits of the coordinates, and a list of odd repeats outside of it.
///
/// Each position bit has a basis, the coordinate bits that it flips. A zero basis is a broadcast: positions
/// that differ in that bit hold the same element. All bases are kept *flat*: the low bits of the coordinates
/// side by side, the last dimension in the lowest bits (row-major), odd indices left out; hence a reshape of
/// powers of two leaves bases as they are. A register number is (repeat index) * 2^(register bits) + bits,
/// likewise a wave number.
///
/// A default layout has rank 0: one value, no bits.
class LinearLayout {
public:
  LinearLayout() = default;

  /// --- Construction ---

  /// `size` (odd * 2^k) positions of a space walk along `dim`, one of `rank` dimensions; the others have
  /// size 1. An odd factor needs Register or Wave.
  static LinearLayout identity1d(Space space, unsigned rank, unsigned dim, int64_t size);
  /// `count` (odd * 2^k) positions of a space hold the same tile, of size 1 in each of `rank` dimensions.
  static LinearLayout zeros1d(Space space, unsigned rank, int64_t count);
  /// From the flat bases, bit 0 of each space first. `repeats` must give each dimension its odd factor.
  static LinearLayout from_flat_bases(const ir::Shape &shape, Bases bases, std::vector<Repeat> repeats = {});
  /// Blocks of `elements` registers a lane, `lanes` a wave, `waves` a workgroup (each per dimension), filled
  /// in `order` (fastest dimension first). A tile larger than the blocks repeats them in registers; a smaller
  /// one is broadcast to the lanes and waves that it does not need. An odd factor goes to the waves as far as
  /// `waves` has it, else to registers; a factor of `waves` that does not divide the dimension's broadcasts.
  static LinearLayout blocked(const ir::Shape &shape, const std::vector<uint32_t> &elements,
                              const std::vector<uint32_t> &lanes, const std::vector<uint32_t> &waves,
                              const std::vector<unsigned> &order);

  /// --- Shape and sizes ---

  unsigned rank() const { return static_cast<unsigned>(dims_.size()); }
  const Dimension &dim(unsigned d) const { return dims_[d]; }
  ir::Shape shape() const;
  unsigned bits(Space space) const { return static_cast<unsigned>(bases_[index(space)].size()); }
  /// Number of coordinate bits, and the flat bit at which a dimension begins.
  unsigned coordinate_bits() const;
  unsigned first_bit(unsigned d) const;
  /// Product of the odd repeats of a space, broadcasts included.
  uint32_t odd(Space space) const;
  /// odd * 2^bits.
  uint32_t size(Space space) const { return odd(space) << bits(space); }
  uint32_t registers() const { return size(Space::Register); } ///< element registers of a lane
  uint32_t lanes() const { return size(Space::Lane); }
  uint32_t waves() const { return size(Space::Wave); }
  const std::vector<Repeat> &repeats() const { return repeats_; }

  /// --- The map ---

  /// The flat basis of a bit, all flat bases of a space or of all, and the coordinates that a bit flips.
  uint64_t flat_basis(Space space, unsigned bit) const { return bases_[index(space)][bit]; }
  const std::vector<uint64_t> &bases(Space space) const { return bases_[index(space)]; }
  const Bases &bases() const { return bases_; }
  Coordinates basis(Space space, unsigned bit) const { return unflatten(flat_basis(space, bit)); }
  /// (position bits) -> (flat coordinate bits). Its columns are the bases of registers, lanes, then waves.
  BitMatrix matrix() const;
  /// The coordinates of a position.
  Coordinates apply(Position position) const;
  /// Flat coordinate bits to coordinates (odd indices 0).
  Coordinates unflatten(uint64_t flat) const;

  /// --- Properties ---

  bool is_surjective() const; ///< every element is held; odd factors always are
  /// The bits of a space that broadcast: whose basis is a combination of those before it, in the order
  /// register, lane, wave. Positions with these bits (and the digits of broadcasting repeats) 0 hold each
  /// element exactly once.
  uint64_t free_mask(Space space) const;
  /// As `free_mask`, but against the bases of the space alone: bits that broadcast inside their space.
  uint64_t free_mask_within(Space space) const;
  /// Whether register bits or repeats broadcast inside a lane.
  bool has_register_broadcast() const;
  /// How many of the lowest register bits walk through consecutive coordinates of `dim` (bit i flips exactly
  /// coordinate bit i): 2^n elements of a lane are adjacent there, and aligned.
  unsigned contiguous_registers(unsigned dim) const;

  /// --- Position side ---

  /// None of the given space: its bits and repeats are dropped. The shape stays, so the result need not be
  /// surjective and odd factors whose repeat is dropped become 1.
  LinearLayout without(Space space) const;
  /// New register bit i is old register bit `order[i]`.
  LinearLayout permute_registers(const std::vector<unsigned> &order) const;
  /// The register bits that `mask` names are dropped; the shape stays.
  LinearLayout without_registers(uint64_t mask) const;
  /// Drops register bits and register repeats that broadcast inside a lane.
  LinearLayout without_register_broadcast() const;
  /// The basis of a register bit goes to bit `bit` of the lanes or waves, which broadcast until then.
  LinearLayout move_register(unsigned register_bit, Space space, unsigned bit) const;

  bool operator==(const LinearLayout &) const = default;
  /// One line: "[16, 128] register: (0,1) (0,2) lane: (1,0) ... wave: 0; register x3 along 0". A 0 is a
  /// broadcast.
  std::string text() const;

private:
  static unsigned index(Space space) { return static_cast<unsigned>(space); }

  std::vector<Dimension> dims_;
  Bases bases_;
  std::vector<Repeat> repeats_;
};

/// The product of layouts: in each space and each dimension the bits of `inner` below those of `outer`. Ranks
/// are equal. Odd factors multiply and stay outermost.
LinearLayout operator*(const LinearLayout &inner, const LinearLayout &outer);

/// q with inner * q == layout, if there is one. Needs the repeats of `inner` to begin the layout's list.
std::optional<LinearLayout> divide_left(const LinearLayout &layout, const LinearLayout &inner);

} // namespace nereid::codegen
