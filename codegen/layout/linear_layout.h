#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codegen/layout/bit_matrix.h"
#include "dsl/ir/type.h"

namespace nereid::codegen {

/// Where a bit of a value's position lies. Registers count elements of a lane, whatever their width; lanes
/// are those of a wave, waves those of a workgroup.
enum class Space : uint8_t { Register, Lane, Wave };

inline constexpr std::array<Space, 3> all_spaces = {Space::Register, Space::Lane, Space::Wave};

/// "register", "lane", "wave".
const char *space_name(Space space);

/// One place for an element: element register `reg` of lane `lane` of wave `wave`.
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

/// An odd factor of registers or waves. It walks over the odd index of a dimension, or over copies. Where a
/// space has several, the earlier in the list is the faster; all lie above the space's bits.
struct Repeat {
  static constexpr int copies = -1;

  Space owner = Space::Register; ///< Register or Wave
  uint32_t count = 1;            ///< odd, more than 1
  int dim = copies;              ///< the dimension walked over, or `copies`
  bool operator==(const Repeat &) const = default;
};

/// How a tile lies in the registers of a workgroup: a linear map over GF(2) from the bits of (register, lane,
/// wave) to the bits of the coordinates, and a list of odd repeats outside of it.
///
/// Each position bit has a column, the coordinate bits that it flips. A zero column means that the bit holds
/// a copy. All columns are kept *flat*: the low bits of the coordinates side by side, the last dimension in
/// the lowest bits (row-major), odd indices left out; hence a reshape of powers of two leaves columns as they
/// are. A register number is (repeat index) * 2^(register bits) + bits, likewise a wave number.
///
/// A default layout has rank 0: one value, no bits.
class LinearLayout {
public:
  LinearLayout() = default;

  /// --- Construction ---

  /// `size` (odd * 2^k) positions of a space walk along `dim`, one of `rank` dimensions; the others have
  /// size 1. An odd factor needs Register or Wave.
  static LinearLayout identity1d(Space space, unsigned rank, unsigned dim, int64_t size);
  /// `count` (odd * 2^k) positions of a space hold copies of a tile of size 1 in each of `rank` dimensions.
  static LinearLayout zeros(Space space, unsigned rank, int64_t count);
  /// From the coordinates that each bit flips, bit 0 first. `repeats` must give each dimension its odd
  /// factor.
  static LinearLayout from_bases(const ir::Shape &shape, const std::vector<Coordinates> &registers,
                                 const std::vector<Coordinates> &lanes, const std::vector<Coordinates> &waves,
                                 std::vector<Repeat> repeats = {});
  /// As `from_bases`, from flat columns.
  static LinearLayout from_flat_bases(const ir::Shape &shape, std::array<std::vector<uint64_t>, 3> bases,
                                      std::vector<Repeat> repeats = {});
  /// Blocks of `elements` registers a lane, `lanes` a wave, `waves` a workgroup (each per dimension), filled
  /// in `order` (fastest dimension first). A tile larger than the blocks repeats them in registers; lanes and
  /// waves that a smaller tile does not need hold copies. An odd factor goes to the waves as far as `waves`
  /// has it, else to registers; a factor of `waves` that does not divide the dimension's holds copies.
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
  /// Product of the odd repeats of a space, copies included.
  uint32_t odd(Space space) const;
  /// odd * 2^bits.
  uint32_t size(Space space) const { return odd(space) << bits(space); }
  uint32_t registers() const { return size(Space::Register); } ///< element registers of a lane
  uint32_t lanes() const { return size(Space::Lane); }
  uint32_t waves() const { return size(Space::Wave); }
  const std::vector<Repeat> &repeats() const { return repeats_; }
  bool has_odd() const { return !repeats_.empty(); }

  /// --- The map ---

  /// The flat column of a bit, all flat columns of a space, and the coordinates that a bit flips.
  uint64_t flat_basis(Space space, unsigned bit) const { return bases_[index(space)][bit]; }
  const std::vector<uint64_t> &bases(Space space) const { return bases_[index(space)]; }
  Coordinates basis(Space space, unsigned bit) const;
  /// Register columns, then lane, then wave columns: (position bits) -> (flat coordinate bits).
  BitMatrix matrix() const;
  /// The coordinates of a position.
  Coordinates apply(Position position) const;
  /// Flat coordinate bits to coordinates (odd indices 0) and back (odd indices dropped).
  Coordinates unflatten(uint64_t flat) const;
  uint64_t flatten(const Coordinates &coordinates) const;

  /// --- Properties ---

  bool is_surjective() const; ///< every element is held; odd factors always are
  bool is_injective() const;  ///< no element is held twice
  bool is_bijective() const { return is_surjective() && is_injective(); }
  /// The bits of a space that hold copies: whose column is a combination of the columns before it, in the
  /// order register, lane, wave. Positions with these bits (and the digits of copy repeats) 0 hold each
  /// element exactly once.
  uint64_t free_mask(Space space) const;
  /// As `free_mask`, but against the columns of the space alone: bits that are copies inside their space.
  uint64_t free_mask_within(Space space) const;
  /// Whether register bits or repeats only hold copies of other registers of the same lane.
  bool has_register_broadcast() const;
  /// How many of the lowest register bits walk through consecutive coordinates of `dim` (bit i flips exactly
  /// coordinate bit i): 2^n elements of a lane are adjacent there, and aligned.
  unsigned contiguous_registers(unsigned dim) const;

  /// --- Position side ---

  /// Only the given space, or none of it: the other bits (and repeats) are dropped. The shape stays, so the
  /// result need not be surjective and odd factors whose repeat is dropped become 1.
  LinearLayout only(Space space) const;
  LinearLayout without(Space space) const;
  /// New register bit i is old register bit `order[i]`.
  LinearLayout permute_registers(const std::vector<unsigned> &order) const;
  /// Drops register bits and register repeats that only hold copies of other registers of the same lane.
  LinearLayout without_register_broadcast() const;
  /// `without_register_broadcast`, and register columns reduced and sorted so that equal sets of elements a
  /// lane give equal register columns: the same tile held by the same lanes, registers in row-major order
  /// where columns are unit vectors.
  LinearLayout normalize_registers() const;
  /// Positions composed with `inner`: new position bits (split into the spaces by `bits`) -> old ones.
  /// Repeats are kept.
  LinearLayout map_positions(const BitMatrix &inner, const std::array<unsigned, 3> &bits) const;
  /// Coordinates composed with `outer`: flat coordinate bits -> flat bits of `shape`. Needs no odd factor on
  /// either side.
  LinearLayout map_coordinates(const BitMatrix &outer, const ir::Shape &shape) const;

  bool operator==(const LinearLayout &) const = default;
  size_t hash() const;
  /// One line: "[16, 128] register: (0,1) (0,2) lane: (1,0) ... wave: copy; register x3 along 0".
  std::string text() const;

private:
  static unsigned index(Space space) { return static_cast<unsigned>(space); }

  std::vector<Dimension> dims_;
  std::array<std::vector<uint64_t>, 3> bases_;
  std::vector<Repeat> repeats_;
};

/// The tensor product: in each space and each dimension the bits of `inner` below those of `outer`. Ranks are
/// equal. Odd factors multiply and stay outermost.
LinearLayout operator*(const LinearLayout &inner, const LinearLayout &outer);

/// q with inner * q == layout, if there is one. Needs the repeats of `inner` to begin the layout's list.
std::optional<LinearLayout> divide_left(const LinearLayout &layout, const LinearLayout &inner);

/// The dimensions of `a` followed by those of `b`, for the same positions: bits and counts of each space are
/// equal. Repeats must be disjoint: where one walks a dimension, the other holds copies.
LinearLayout concat_dimensions(const LinearLayout &a, const LinearLayout &b);

/// The owner of each element of a surjective layout: one position for each coordinate, chosen with copies at
/// 0, early registers before lanes before waves. The inverse of a bijective layout.
class OwnerMap {
public:
  /// Error (Nereid's) unless the layout is surjective.
  static Result<OwnerMap> of(const LinearLayout &layout);

  Position at(const Coordinates &coordinates) const;
  /// Flat coordinate bits -> position bits (register, lane, wave packed in this order from bit 0).
  const BitMatrix &matrix() const { return matrix_; }

private:
  OwnerMap(LinearLayout layout, BitMatrix matrix) : layout_(std::move(layout)), matrix_(std::move(matrix)) {}

  LinearLayout layout_;
  BitMatrix matrix_;
};

} // namespace nereid::codegen

template <> struct std::hash<nereid::codegen::LinearLayout> {
  size_t operator()(const nereid::codegen::LinearLayout &layout) const { return layout.hash(); }
};
