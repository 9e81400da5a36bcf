#include "codegen/convert/lane_exchange.h"

#include <algorithm>
#include <bit>

#include "codegen/layout/subspace.h"

namespace nereid::codegen {

namespace {

using Columns = std::vector<uint64_t>;

uint64_t low_mask(unsigned bits) { return (uint64_t(1) << bits) - 1; }

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

/// Register bits that trade places with lane bits 4 and 5, and nothing else but renaming.
bool add_swaps(StepList &steps, const WaveLocalMap &map, unsigned pack) {
  const unsigned registers = map.registers;
  if (map.register_from.rows() != registers || map.lanes != 6)
    return false;
  for (unsigned i = 0; i < map.waves; ++i)
    if (map.register_from.column(registers + 6 + i) || map.lane_from.column(registers + 6 + i))
      return false;
  std::vector<unsigned> swapped;
  for (unsigned lane = 0; lane < 6; ++lane) {
    const uint64_t own = uint64_t(1) << lane, from = map.lane_from.column(registers + lane);
    const uint64_t from_register = map.register_from.column(registers + lane);
    if (from == own && from_register == 0)
      continue;
    if (from != 0 || from_register == 0 || lane < 4)
      return false;
    swapped.push_back(lane);
  }
  const BitMatrix to_lane(6, part(map.lane_from, 0, registers));
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
  const unsigned lanes = map.lanes, waves = map.waves, registers = map.registers;
  const unsigned sources = map.register_from.rows();
  const unsigned pack = pack_limit(element_bits);
  std::vector<ConversionStep> result;
  StepList steps(result, repeats);
  if (add_swaps(steps, map, pack))
    return result;
  result.clear();

  Columns reg_to_reg = part(map.register_from, 0, registers), reg_to_lane = part(map.lane_from, 0, registers);
  const BitMatrix lane_to_reg(sources, part(map.register_from, registers, lanes));
  const BitMatrix lane_to_lane(lanes, part(map.lane_from, registers, lanes));
  const BitMatrix wave_to_reg(sources, part(map.register_from, registers + lanes, waves));
  const BitMatrix wave_to_lane(lanes, part(map.lane_from, registers + lanes, waves));

  // A lane sends one register in a round. Lanes that would ask the same lane for different registers are
  // served in different rounds: lane l receives register (round ^ turn(l)), so that they ask different lanes.
  const Columns colliding = lane_to_lane.kernel();
  Columns asked;
  for (uint64_t vector : colliding)
    asked.push_back(lane_to_reg.apply(vector));
  const uint64_t harmless = BitMatrix(sources, asked).dependent_columns();
  Columns turned, turns;
  Subspace reached(lane_to_lane.columns());
  for (unsigned i = 0; i < colliding.size(); ++i) {
    if (harmless >> i & 1)
      continue;
    turned.push_back(colliding[i]);
    bool found = false;
    for (unsigned r = 0; r < reg_to_lane.size() && !found; ++r)
      if (reached.add(reg_to_lane[r])) {
        turns.push_back(uint64_t(1) << r);
        found = true;
      }
    // No wanted register is left to take turns with: a round more, whose other results nobody uses.
    for (unsigned lane = 0; lane < lanes && !found; ++lane)
      if (reached.add(uint64_t(1) << lane)) {
        turns.push_back(uint64_t(1) << reg_to_lane.size());
        reg_to_lane.push_back(uint64_t(1) << lane);
        reg_to_reg.push_back(0);
        found = true;
      }
  }
  const unsigned iterations = static_cast<unsigned>(reg_to_lane.size());
  const BitMatrix round_to_lane(lanes, reg_to_lane), round_to_reg(sources, reg_to_reg);
  // Collisions in which the same register is asked for stay; they complete the turned ones to the kernel.
  Columns basis = turned, images = turns;
  for (unsigned i = 0; i < colliding.size(); ++i)
    if (harmless >> i & 1) {
      const uint64_t same = BitMatrix(sources, asked).solution(asked[i]);
      basis.push_back(colliding[i] ^ BitMatrix(lanes, colliding).apply(same));
      images.push_back(0);
    }
  const BitMatrix turn = linear_map(lanes, basis, iterations, images);
  const BitMatrix ask_lane = sum(lane_to_lane, round_to_lane * turn);
  const BitMatrix ask_reg = sum(lane_to_reg, round_to_reg * turn);

  // Which register a lane sends, as a function of the sender.
  Columns senders, sent;
  const uint64_t dependent = ask_lane.dependent_columns();
  for (unsigned i = 0; i < lanes; ++i)
    if (!(dependent >> i & 1)) {
      senders.push_back(ask_lane.column(i));
      sent.push_back(ask_reg.column(i));
    }
  const BitMatrix send = linear_map(lanes, senders, sources, sent);
  steps.select(concat(send, sum(wave_to_reg, send * wave_to_lane)), lanes);

  // Rounds that share their lanes get neighbouring numbers.
  Columns order = round_to_lane.kernel();
  const unsigned together = static_cast<unsigned>(order.size());
  Subspace ordered(order);
  for (uint64_t unit : unit_vectors(iterations))
    if (ordered.add(unit))
      order.push_back(unit);
  const BitMatrix numbering(iterations, order);
  steps.rename(sum(round_to_reg, send * round_to_lane) * numbering);
  const BitMatrix shifts = round_to_lane * numbering;
  const bool moves = ask_lane != BitMatrix::identity(lanes) || shifts.rank() || wave_to_lane.rank();
  if (moves)
    steps.add(ShuffleStep{narrow(ask_lane.columns()), narrow(wave_to_lane.columns()), narrow(shifts.columns()),
                          std::min(pack, together)});
  steps.rename(numbering.inverted());
  steps.select(turn, lanes);
  if (iterations != registers) {
    Columns wanted = unit_vectors(iterations);
    wanted.resize(registers);
    steps.rename(BitMatrix(iterations, wanted));
  }
  return result;
}

} // namespace nereid::codegen
