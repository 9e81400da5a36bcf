// Exchanges inside a wave: swaps of register bits with lane bits, or selects around a shuffle.
#include "codegen/convert/lane_exchange.h"

#include <algorithm>

#include "codegen/layout/bits.h"
#include "codegen/layout/subspace.h"
#include "codegen/target/gfx950.h"

namespace nereid::codegen {

namespace {

using Columns = std::vector<uint64_t>;

Columns part(const BitMatrix &matrix, unsigned first, unsigned count) {
  return Columns(matrix.columns().begin() + first, matrix.columns().begin() + first + count);
}

BitMatrix concat(const BitMatrix &a, const BitMatrix &b) {
  Columns bases = a.columns();
  bases.insert(bases.end(), b.columns().begin(), b.columns().end());
  return BitMatrix(a.rows(), bases);
}

BitMatrix sum(const BitMatrix &a, const BitMatrix &b) {
  Columns bases = a.columns();
  for (unsigned i = 0; i < bases.size(); ++i)
    bases[i] ^= b.column(i);
  return BitMatrix(a.rows(), bases);
}

/// The linear map that sends each independent vector of `from` to its partner in `to` and the rest of a
/// completed basis to zero.
BitMatrix linear_map(unsigned from_bits, Columns from, unsigned to_bits, Columns to) {
  Subspace span(from);
  for (uint64_t unit : unit_vectors(from_bits))
    if (span.add(unit)) {
      from.push_back(unit);
      to.push_back(0);
    }
  return BitMatrix(to_bits, to) * BitMatrix(from_bits, from).inverted();
}

/// Appends steps; renames that follow each other become one, renames that change nothing vanish.
class StepList {
public:
  StepList(std::vector<ConversionStep> &steps, uint32_t repeats) : steps_(steps), repeats_(repeats) {}

  /// new[x] = old[map(x)] below each repeat.
  void rename(const BitMatrix &map) {
    if (map == BitMatrix::identity(map.rows()))
      return;
    RenameStep step;
    for (uint32_t repeat = 0; repeat < repeats_; ++repeat)
      for (uint32_t x = 0; x < 1u << map.size(); ++x)
        step.source.push_back(repeat << map.rows() | static_cast<uint32_t>(map.apply(x)));
    steps_.push_back(std::move(step));
  }

  /// new[r] = old[r ^ map(lane bits, wave bits)].
  void select(const BitMatrix &map, unsigned lanes) {
    Columns independent;
    std::vector<uint64_t> conditions;
    const uint64_t dependent = map.dependent_columns();
    for (unsigned i = 0; i < map.size(); ++i)
      if (!(dependent >> i & 1))
        independent.push_back(map.column(i));
    conditions.resize(independent.size());
    const BitMatrix basis(map.rows(), independent);
    for (unsigned i = 0; i < map.size(); ++i) {
      const uint64_t terms = basis.solution(map.column(i));
      for (unsigned j = 0; j < independent.size(); ++j)
        conditions[j] |= (terms >> j & 1) << i;
    }
    for (unsigned j = 0; j < independent.size(); ++j)
      steps_.push_back(SelectStep{static_cast<uint32_t>(conditions[j] & low_mask(lanes)),
                                  static_cast<uint32_t>(conditions[j] >> lanes),
                                  static_cast<uint32_t>(independent[j])});
  }

  void add(ConversionStep step) { steps_.push_back(std::move(step)); }

private:
  std::vector<ConversionStep> &steps_;
  uint32_t repeats_;
};

unsigned pack_limit(unsigned element_bits) { return element_bits >= 32 ? 0 : element_bits > 8 ? 1 : 2; }

std::vector<uint32_t> narrow(const Columns &bases) {
  return std::vector<uint32_t>(bases.begin(), bases.end());
}

/// Swaps of register bits with lane bits, between renames; false, and no step, if the map does anything else.
bool add_swaps(StepList &steps, const WaveLocalMap &map, unsigned pack) {
  const unsigned registers = map.registers;
  if (map.register_from.rows() != registers || map.lanes != gfx950::log2_lanes)
    return false;
  for (unsigned i = 0; i < map.waves; ++i)
    if (map.register_from.column(registers + map.lanes + i) ||
        map.lane_from.column(registers + map.lanes + i))
      return false;
  std::vector<unsigned> swapped;
  for (unsigned lane = 0; lane < map.lanes; ++lane) {
    const uint64_t own = uint64_t(1) << lane, from = map.lane_from.column(registers + lane);
    const uint64_t from_register = map.register_from.column(registers + lane);
    if (from == own && from_register == 0)
      continue;
    if (from != 0 || from_register == 0)
      return false;
    swapped.push_back(lane);
  }
  const BitMatrix to_lane(map.lanes, part(map.lane_from, 0, registers));
  const BitMatrix to_register(registers, part(map.register_from, 0, registers));
  const Columns staying = to_lane.kernel();
  if (swapped.empty() || staying.size() + swapped.size() != registers)
    return false;
  // Numbers of the registers between the renames: those that stay in their lane lowest, so that they pack.
  Columns wanted = staying, source;
  for (uint64_t vector : staying)
    source.push_back(to_register.apply(vector));
  const unsigned kept = static_cast<unsigned>(staying.size());
  for (unsigned lane : swapped) {
    std::optional<uint64_t> mover = to_lane.solve(uint64_t(1) << lane);
    const uint64_t partner = map.register_from.column(registers + lane);
    if (!mover)
      return false;
    // Its own source register must be one of those that stay; another mover takes that over.
    std::optional<uint64_t> shift =
        BitMatrix(registers, Columns(source.begin(), source.begin() + kept)).solve(to_register.apply(*mover));
    if (!shift)
      return false;
    wanted.push_back(*mover ^ BitMatrix(registers, staying).apply(*shift));
    source.push_back(partner);
  }
  const BitMatrix from(registers, source);
  std::optional<BitMatrix> numbers = BitMatrix(registers, wanted).inverse();
  if (!numbers || from.rank() != registers)
    return false;
  steps.rename(from);
  for (unsigned i = 0; i < swapped.size(); ++i)
    steps.add(SwapStep{kept + i, swapped[i], std::min(pack, kept)});
  steps.rename(*numbers);
  return true;
}

/// One shuffle in which each lane asks a lane that is linear in it, and selects that let it receive and send
/// registers other than the one that the shuffle is numbered after.
class ShufflePlan {
public:
  explicit ShufflePlan(const WaveLocalMap &map)
      : lanes_(map.lanes), registers_(map.registers), sources_(map.register_from.rows()),
        shuffle_to_lane_(part(map.lane_from, 0, map.registers)),
        shuffle_to_register_(part(map.register_from, 0, map.registers)),
        lane_to_lane_(lanes_, part(map.lane_from, registers_, lanes_)),
        wave_to_lane_(lanes_, part(map.lane_from, registers_ + lanes_, map.waves)),
        lane_to_register_(sources_, part(map.register_from, registers_, lanes_)),
        wave_to_register_(sources_, part(map.register_from, registers_ + lanes_, map.waves)) {
    choose_turns();
    choose_sent();
  }

  void add_to(StepList &steps, unsigned pack) const;

private:
  void choose_turns();
  Columns turns_of(const Columns &colliding);
  void choose_sent();
  unsigned shuffles() const { return static_cast<unsigned>(shuffle_to_lane_.size()); }
  BitMatrix shuffle_to_lane() const { return BitMatrix(lanes_, shuffle_to_lane_); }
  BitMatrix shuffle_to_register() const { return BitMatrix(sources_, shuffle_to_register_); }

  unsigned lanes_, registers_, sources_;
  /// Source lane and register as sums of what the bits of the shuffle (at first: of the register), of the
  /// lane and of the wave that receives add.
  Columns shuffle_to_lane_, shuffle_to_register_;
  BitMatrix lane_to_lane_, wave_to_lane_, lane_to_register_, wave_to_register_;
  BitMatrix turn_;                        ///< lane l receives register (shuffle ^ turn(l))
  BitMatrix asked_lane_, asked_register_; ///< by lane l in shuffle 0
  BitMatrix sent_;                        ///< by a lane in shuffle 0
};

/// For each of the vectors of lanes that would ask one lane for different registers: the bit of the shuffle
/// in which they take turns, so that they ask different lanes.
Columns ShufflePlan::turns_of(const Columns &colliding) {
  Columns turns;
  Subspace reached(lane_to_lane_.columns());
  for (size_t i = 0; i < colliding.size(); ++i) {
    bool found = false;
    for (size_t r = 0; r < shuffle_to_lane_.size() && !found; ++r)
      if (reached.add(shuffle_to_lane_[r])) {
        turns.push_back(uint64_t(1) << r);
        found = true;
      }
    // No wanted register is left to take turns with: one more shuffle, whose other results are unused.
    for (unsigned lane = 0; lane < lanes_ && !found; ++lane)
      if (reached.add(uint64_t(1) << lane)) {
        turns.push_back(uint64_t(1) << shuffles());
        shuffle_to_lane_.push_back(uint64_t(1) << lane);
        shuffle_to_register_.push_back(0);
        found = true;
      }
  }
  return turns;
}

/// A lane sends one register in a shuffle. Lanes that would ask it for different ones are served in different
/// shuffles.
void ShufflePlan::choose_turns() {
  const Columns kernel = lane_to_lane_.kernel();
  Columns asked, colliding;
  for (uint64_t vector : kernel)
    asked.push_back(lane_to_register_.apply(vector));
  const uint64_t harmless = BitMatrix(sources_, asked).dependent_columns();
  for (size_t i = 0; i < kernel.size(); ++i)
    if (!(harmless >> i & 1))
      colliding.push_back(kernel[i]);
  Columns basis = colliding, turns = turns_of(colliding);
  // Lanes that ask for the same register stay; they complete the others to the kernel.
  for (size_t i = 0; i < kernel.size(); ++i)
    if (harmless >> i & 1) {
      const uint64_t same = BitMatrix(sources_, asked).solution(asked[i]);
      basis.push_back(kernel[i] ^ BitMatrix(lanes_, kernel).apply(same));
      turns.push_back(0);
    }
  turn_ = linear_map(lanes_, basis, shuffles(), turns);
}

/// Which register a lane sends, as a function of the sender.
void ShufflePlan::choose_sent() {
  asked_lane_ = sum(lane_to_lane_, shuffle_to_lane() * turn_);
  asked_register_ = sum(lane_to_register_, shuffle_to_register() * turn_);
  Columns senders, sent;
  const uint64_t dependent = asked_lane_.dependent_columns();
  for (unsigned i = 0; i < lanes_; ++i)
    if (!(dependent >> i & 1)) {
      senders.push_back(asked_lane_.column(i));
      sent.push_back(asked_register_.column(i));
    }
  sent_ = linear_map(lanes_, senders, sources_, sent);
}

void ShufflePlan::add_to(StepList &steps, unsigned pack) const {
  steps.select(concat(sent_, sum(wave_to_register_, sent_ * wave_to_lane_)), lanes_);
  // Shuffles that share their lanes get neighbouring numbers.
  Columns order = shuffle_to_lane().kernel();
  const auto together = static_cast<unsigned>(order.size());
  Subspace ordered(order);
  for (uint64_t unit : unit_vectors(shuffles()))
    if (ordered.add(unit))
      order.push_back(unit);
  const BitMatrix numbering(shuffles(), order);
  steps.rename(sum(shuffle_to_register(), sent_ * shuffle_to_lane()) * numbering);
  const BitMatrix shifts = shuffle_to_lane() * numbering;
  if (asked_lane_ != BitMatrix::identity(lanes_) || shifts.rank() || wave_to_lane_.rank())
    steps.add(ShuffleStep{narrow(asked_lane_.columns()), narrow(wave_to_lane_.columns()),
                          narrow(shifts.columns()), std::min(pack, together)});
  steps.rename(numbering.inverted());
  steps.select(turn_, lanes_);
  if (shuffles() != registers_) {
    Columns wanted = unit_vectors(shuffles());
    wanted.resize(registers_);
    steps.rename(BitMatrix(shuffles(), wanted));
  }
}

} // namespace

bool WaveLocalMap::is_renaming() const {
  for (unsigned i = 0; i < register_from.size(); ++i) {
    const bool is_lane = i >= registers && i < registers + lanes;
    if (lane_from.column(i) != (is_lane ? uint64_t(1) << (i - registers) : 0))
      return false;
    if (i >= registers && register_from.column(i))
      return false;
  }
  return true;
}

std::optional<WaveLocalMap> wave_local_map(const LinearLayout &from, const LinearLayout &to) {
  WaveLocalMap map;
  map.registers = to.bits(Space::Register);
  map.lanes = to.bits(Space::Lane);
  map.waves = to.bits(Space::Wave);
  const unsigned from_registers = from.bits(Space::Register);
  const BitMatrix held = from.without(Space::Wave).matrix();
  Columns register_from, lane_from;
  for (Space space : all_spaces)
    for (unsigned i = 0; i < to.bits(space); ++i) {
      // What is missing when the position itself is taken as the source.
      const uint64_t missing =
          to.flat_basis(space, i) ^ (space == Space::Register ? 0 : from.flat_basis(space, i));
      std::optional<uint64_t> step = held.solve(missing);
      if (!step)
        return std::nullopt;
      const uint64_t own = space == Space::Lane ? uint64_t(1) << i : 0;
      register_from.push_back(*step & low_mask(from_registers));
      lane_from.push_back(*step >> from_registers ^ own);
    }
  map.register_from = BitMatrix(from_registers, register_from);
  map.lane_from = BitMatrix(map.lanes, lane_from);
  return map;
}

std::vector<ConversionStep> lane_steps(const WaveLocalMap &map, uint32_t repeats, unsigned element_bits) {
  const unsigned pack = pack_limit(element_bits);
  std::vector<ConversionStep> result;
  StepList steps(result, repeats);
  if (!add_swaps(steps, map, pack))
    ShufflePlan(map).add_to(steps, pack);
  return result;
}

} // namespace nereid::codegen
