// Bounds of the offsets that threads add to a base, from ValueRanges: what AddressEmitter computes, without
// the code. Follows requests from the pointers back to positions and scalars.
#include "codegen/assign/offset_bounds.h"

#include <limits>
#include <unordered_set>

#include <fmt/format.h>

#include "codegen/target/gfx950.h"

namespace nereid::codegen {

namespace {

/// The threads' part of an offset goes into an i32 that is not negative.
constexpr uint64_t offset_limit = gfx950::buffer_range;

} // namespace

std::vector<LayoutRequest> offset_terms(const FunctionIndex &index, const LayoutRequest &request) {
  const ir::Function &function = index.function();
  const ir::Op &op = *index.definition(request.value);
  switch (op.opcode) {
  case ir::Opcode::Broadcast:
  case ir::Opcode::ExpandDims:
  case ir::Opcode::Reshape:
  case ir::Opcode::Permute:
  case ir::Opcode::Add:
  case ir::Opcode::Sub:
  case ir::Opcode::Mul:
    return operand_requests(function, op, request.layout);
  case ir::Opcode::Cast: {
    const bool widens = function.type(op.operands[0]).element == ir::Element::I32 &&
                        function.type(request.value).element == ir::Element::I64;
    return widens ? operand_requests(function, op, request.layout) : std::vector<LayoutRequest>();
  }
  default:
    return {};
  }
}

std::optional<NoDescriptor> OffsetBounds::objection(ir::ValueId pointer, const LinearLayout &leaders) {
  return small_buffer_of(index_, pointer) ? std::nullopt : of({pointer, leaders}).unknown;
}

OffsetBound OffsetBounds::of(const LayoutRequest &root) {
  const auto find = [this](const LayoutRequest &request) {
    const auto known = known_.find(request);
    return known == known_.end() ? nullptr : &known->second;
  };
  if (const OffsetBound *known = find(root))
    return *known;
  return make_in_post_order(
      root, find, [this](const LayoutRequest &request) { return Request{request, operands(request), {}}; },
      [this](const Request &request) {
        return known_.emplace(request.wanted, bound(request)).first->second;
      });
}

/// Pointers are followed to their base.
std::vector<LayoutRequest> OffsetBounds::operands(const LayoutRequest &request) const {
  if (!is_computed(request.value))
    return {};
  const ir::Op &op = *index_.definition(request.value);
  return op.opcode == ir::Opcode::PtrAdd ? operand_requests(function_, op, request.layout)
                                         : offset_terms(index_, request);
}

OffsetBound OffsetBounds::bound(const Request &request) const {
  const ir::ValueId value = request.wanted.value;
  const std::vector<OffsetBound> &operands = request.results;
  if (function_.type(value).rank() == 0)
    return {false, 0, is_pointer(value) ? Interval{0, 0} : ranges_[value], std::nullopt};
  const ir::Op *op = is_computed(value) ? index_.definition(value) : nullptr;
  if (!operands.empty()) {
    const OffsetBound &first = operands[0];
    switch (op->opcode) {
    case ir::Opcode::PtrAdd:
      return sum(first, operands[1], ir::byte_size(function_.type(value).element));
    case ir::Opcode::Add:
      return sum(first, operands[1], 1);
    case ir::Opcode::Sub:
      return sum(first, negated(operands[1]), 1);
    case ir::Opcode::Mul:
      return product(*op, first, operands[1]);
    default:
      return first;
    }
  }
  if (is_pointer(value))
    return {true,
            0,
            {0, 0},
            NoDescriptor{"its offsets are loaded or carried, not computed from positions and scalars", ""}};
  if (op && op->opcode == ir::Opcode::Arange)
    return position(request.wanted);
  if (op && op->opcode == ir::Opcode::Constant)
    return {false, 0, ranges_[value], std::nullopt};
  return leaf(value);
}

/// Registers whose part no lane or wave reaches add it as a constant.
OffsetBound OffsetBounds::position(const LayoutRequest &request) const {
  const LinearLayout &layout = request.layout;
  uint64_t thread_bits = 0, register_bits = 0;
  for (Space space : {Space::Lane, Space::Wave})
    for (uint64_t basis : layout.bases(space))
      thread_bits |= basis;
  for (uint64_t basis : layout.bases(Space::Register))
    register_bits |= basis;
  if (thread_bits == 0)
    return {false, 0, ranges_[request.value], std::nullopt};
  const bool apart = (thread_bits & register_bits) == 0;
  const auto elements = static_cast<uint64_t>(function_.type(request.value).shape[0]);
  return {true, apart ? thread_bits + 1 : elements, ranges_[request.value], std::nullopt};
}

OffsetBound OffsetBounds::leaf(ir::ValueId value) const {
  const Interval &range = ranges_[value];
  if (range.low >= 0 && range.high < static_cast<int64_t>(offset_limit) - 1)
    return {true, static_cast<uint64_t>(range.high) + 1, {0, 0}, std::nullopt};
  const ir::Op *op = index_.definition(value);
  return {true,
          0,
          {0, 0},
          NoDescriptor{fmt::format("its offsets come from a {}, which may be from {} to {}",
                                   op ? ir::facts(op->opcode).name : "carried value", range.low, range.high),
                       "Bound them, for instance by min and max"}};
}

OffsetBound OffsetBounds::sum(const OffsetBound &a, const OffsetBound &unscaled, int64_t factor_of_b) const {
  const OffsetBound b =
      factor_of_b == 1 ? unscaled : scaled(unscaled, {factor_of_b, factor_of_b}, std::nullopt);
  OffsetBound result{a.varies || b.varies, 0, a.uniform + b.uniform, std::nullopt};
  if (!a.is_narrow() || !b.is_narrow())
    result.unknown = a.is_narrow() ? b.unknown : a.unknown;
  else if (a.limit + b.limit < offset_limit || !a.varies || !b.varies)
    result.limit = a.limit + b.limit;
  else
    result.unknown = NoDescriptor{fmt::format("its offsets may be up to {}", a.limit + b.limit), ""};
  return result;
}

OffsetBound OffsetBounds::negated(const OffsetBound &a) const {
  OffsetBound result{a.varies, 0, -a.uniform, a.unknown};
  if (a.varies && !a.unknown)
    result.unknown = NoDescriptor{"its offsets subtract what differs between threads", ""};
  return result;
}

OffsetBound OffsetBounds::product(const ir::Op &op, const OffsetBound &a, const OffsetBound &b) const {
  if (!b.varies)
    return scaled(a, b.uniform, op.operands[1]);
  if (!a.varies)
    return scaled(b, a.uniform, op.operands[0]);
  return {true, 0, {0, 0}, NoDescriptor{"its offsets multiply two numbers that differ between threads", ""}};
}

/// Times a number in `factor`, which is value `source`.
OffsetBound OffsetBounds::scaled(const OffsetBound &a, const Interval &factor,
                                 std::optional<ir::ValueId> source) const {
  OffsetBound result{a.varies, 0, a.uniform * factor, a.unknown};
  if (!a.varies || a.limit == 0)
    return result;
  const auto max_factor = static_cast<int64_t>((offset_limit - 1) / a.limit);
  if (factor.low >= 0 && factor.high > 0 && factor.high <= max_factor)
    result.limit = a.limit * static_cast<uint64_t>(factor.high);
  else
    result.unknown = unknown_factor(factor, max_factor, source);
  return result;
}

NoDescriptor OffsetBounds::unknown_factor(const Interval &factor, int64_t max_factor,
                                          std::optional<ir::ValueId> source) const {
  NoDescriptor why{
      fmt::format("its offsets are multiplied by a number from {} to {}", factor.low, factor.high), ""};
  const std::optional<size_t> number = source ? unbounded_argument(*source) : std::nullopt;
  if (!number)
    return why;
  const ir::Argument &argument = function_.arguments[*number];
  const bool is_named =
      *number < function_.argument_names.size() && !function_.argument_names[*number].empty();
  const std::string name = is_named ? function_.argument_names[*number] : "x";
  const std::string numbered = fmt::format("argument {}", *number);
  why.reason += fmt::format(", which grows with {}", is_named ? name : numbered);
  // As far as the factor grows with the argument. Half of it, as other offsets are added, and an eighth of
  // that: elements of up to 8 bytes are counted here, the limit is one of bytes.
  constexpr long double reserve = 2 * 8;
  if (const Interval &range = ranges_[argument.value]; range.high > 0 && factor.high > 0) {
    const long double growth = static_cast<long double>(factor.high) / static_cast<long double>(range.high);
    const auto largest = static_cast<int64_t>(static_cast<long double>(max_factor) / growth / reserve);
    why.remedy = fmt::format("assume(({0} >= 0) & ({0} <= {1})) at the top of the kernel", name, largest);
    if (!is_named)
      why.remedy += fmt::format(", where x is {}", numbered);
  }
  return why;
}

/// The first argument of the kernel that a value is computed from and of whose numbers nothing is known.
std::optional<size_t> OffsetBounds::unbounded_argument(ir::ValueId value) const {
  constexpr int64_t unbounded = std::numeric_limits<int32_t>::max();
  std::vector<ir::ValueId> open = {value};
  std::unordered_set<ir::ValueId> seen;
  while (!open.empty()) {
    const ir::ValueId next = open.back();
    open.pop_back();
    if (!seen.insert(next).second)
      continue;
    if (const ir::Op *op = index_.definition(next)) {
      open.insert(open.end(), op->operands.rbegin(), op->operands.rend());
      continue;
    }
    for (size_t i = 0; i < function_.arguments.size(); ++i)
      if (function_.arguments[i].value == next && !is_pointer(next) &&
          (ranges_[next].low < 0 || ranges_[next].high >= unbounded))
        return i;
  }
  return std::nullopt;
}

} // namespace nereid::codegen
