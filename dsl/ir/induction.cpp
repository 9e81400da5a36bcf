// Counters that loops carry, as functions of the index.
#include "dsl/ir/induction.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "dsl/ir/fold.h"

namespace nereid::ir {
namespace {

/// Definitions of values; regions are left out.
class Definitions {
public:
  void add(const Block &block) {
    for (const Op &op : block.ops) {
      add(op);
      for (const Block &inner : op.blocks)
        add(inner);
    }
  }

  void add(const Op &op) {
    Op bare{op.opcode, op.operands, op.results, op.attributes, {}, op.location};
    for (const ValueId result : op.results)
      of_.insert_or_assign(result, bare);
  }

  /// Null for arguments of the kernel and of regions.
  const Op *find(ValueId value) const {
    const auto found = of_.find(value);
    return found == of_.end() ? nullptr : &found->second;
  }

  std::optional<int64_t> constant(const Function &function, ValueId value) const {
    const Op *op = find(value);
    while (op && op->opcode == Opcode::Broadcast) {
      value = op->operands[0];
      op = find(value);
    }
    const Type &type = function.type(value);
    if (!op || op->opcode != Opcode::Constant || type.pointer || !is_integer(type.element))
      return std::nullopt;
    return integer_value(type.element, static_cast<uint64_t>(op->integer("bits")));
  }

private:
  std::map<ValueId, Op> of_;
};

/// Appends scalar operations to a list, and copies of what they need from inside a loop.
class ScalarCode {
public:
  ScalarCode(Function &function, Definitions &definitions, const std::set<ValueId> &inside, uint32_t location)
      : function_(function), definitions_(definitions), inside_(inside), location_(location) {}

  std::vector<Op> take() { return std::move(ops_); }

  ValueId integer(Element element, int64_t value) {
    Op op;
    op.opcode = Opcode::Constant;
    op.attributes["bits"] = static_cast<int64_t>(integer_bits(element, value));
    return append(std::move(op), Type::scalar(element));
  }

  ValueId binary(Opcode opcode, ValueId a, ValueId b) {
    Op op;
    op.opcode = opcode;
    op.operands = {a, b};
    return append(std::move(op), function_.type(a));
  }

  ValueId cast(ValueId value, Element element) {
    return function_.type(value).element == element ? value
                                                    : unary(Opcode::Cast, value, Type::scalar(element));
  }

  ValueId times(ValueId value, int64_t factor) {
    return factor == 1 ? value : binary(Opcode::Mul, value, integer(function_.type(value).element, factor));
  }

  /// value + offset, as the result `sum`; the offset is a scalar.
  void add_to(ValueId sum, ValueId value, ValueId offset) {
    const Type type = function_.type(sum);
    if (type.rank() > 0)
      offset = unary(Opcode::Broadcast, offset, Type::tile(function_.type(offset).element, type.shape));
    Op op;
    op.opcode = type.pointer ? Opcode::PtrAdd : Opcode::Add;
    op.operands = {value, offset};
    op.results = {sum};
    finish(std::move(op));
  }

  /// A value that the loop does not change, for use outside its body or at its beginning.
  ValueId invariant(ValueId value) {
    if (!inside_.contains(value))
      return value;
    if (const auto known = copies_.find(value); known != copies_.end())
      return known->second;
    Op op = *definitions_.find(value);
    for (ValueId &operand : op.operands)
      operand = invariant(operand);
    const auto place = std::find(op.results.begin(), op.results.end(), value) - op.results.begin();
    for (ValueId &result : op.results)
      result = function_.new_value(Type(function_.type(result)));
    const ValueId copy = op.results[static_cast<size_t>(place)];
    finish(std::move(op));
    copies_.emplace(value, copy);
    return copy;
  }

private:
  ValueId unary(Opcode opcode, ValueId value, Type type) {
    Op op;
    op.opcode = opcode;
    op.operands = {value};
    return append(std::move(op), std::move(type));
  }

  ValueId append(Op op, Type type) {
    op.results = {function_.new_value(std::move(type))};
    finish(std::move(op));
    return ops_.back().result();
  }

  void finish(Op op) {
    op.location = location_;
    definitions_.add(op);
    ops_.push_back(std::move(op));
  }

  Function &function_;
  Definitions &definitions_;
  const std::set<ValueId> &inside_;
  uint32_t location_;
  std::vector<Op> ops_;
  std::map<ValueId, ValueId> copies_;
};

/// factor * value, or factor alone: what one iteration adds.
struct Term {
  int64_t factor = 1;
  std::optional<ValueId> value;
};

struct Increment {
  std::vector<Term> terms;
  uint32_t location = 0;
};

bool may_count(const Type &type) {
  return type.pointer || type.element == Element::I32 || type.element == Element::I64;
}

/// Whether there is a loop to look at: most kernels carry floats alone.
bool has_counters(const Function &function, const Block &block) {
  return std::any_of(block.ops.begin(), block.ops.end(), [&](const Op &op) {
    const bool counts = op.opcode == Opcode::For &&
                        std::any_of(op.results.begin(), op.results.end(),
                                    [&](ValueId result) { return may_count(function.type(result)); });
    return counts || std::any_of(op.blocks.begin(), op.blocks.end(),
                                 [&](const Block &inner) { return has_counters(function, inner); });
  });
}

/// One loop.
class LoopCounters {
public:
  LoopCounters(Function &function, Definitions &definitions, Op &loop)
      : function_(function), definitions_(definitions), loop_(loop) {
    collect(loop.blocks.front());
  }

  /// Rewrites them and gives the operations that compute their last values behind the loop.
  std::vector<Op> rewrite() {
    std::vector<Op> behind;
    const std::optional<int64_t> step = constant(loop_.operands[2]);
    if (!step || *step <= 0)
      return behind;
    for (size_t i = loop_.results.size(); i-- > 0;)
      if (const std::optional<Increment> increment = increment_of(i))
        rewrite(i, *increment, *step, behind);
    return behind;
  }

private:
  static constexpr int longest_chain = 32;
  const CarriedPlaces places_ = carried_places(Opcode::For);

  std::optional<int64_t> constant(ValueId value) const { return definitions_.constant(function_, value); }
  Block &body() { return loop_.blocks.front(); }

  void collect(const Block &block) {
    inside_.insert(block.arguments.begin(), block.arguments.end());
    for (const Op &op : block.ops) {
      inside_.insert(op.results.begin(), op.results.end());
      for (const Block &inner : op.blocks)
        collect(inner);
    }
  }

  /// Whether a value is the same in each iteration, and can be computed anywhere from what is outside.
  bool is_invariant(ValueId value, int depth = 0) const {
    if (!inside_.contains(value))
      return true;
    const Op *op = definitions_.find(value);
    return op && depth < longest_chain && facts(op->opcode).effect == OpEffect::Pure &&
           facts(op->opcode).regions == 0 &&
           std::all_of(
               op->operands.begin(), op->operands.end(),
               [&](ValueId operand) { return is_invariant(operand, depth + 1); });
  }

  /// A scalar that is added to all elements.
  std::optional<Term> term_of(ValueId value, int64_t sign) const {
    if (const std::optional<int64_t> number = constant(value); number && *number != min_i64)
      return Term{sign * *number, std::nullopt};
    const Op *op = definitions_.find(value);
    if (op && op->opcode == Opcode::Broadcast) {
      value = op->operands[0];
      op = definitions_.find(value);
    }
    if (function_.type(value).rank() > 0 || !is_invariant(value))
      return std::nullopt;
    if (op && op->opcode == Opcode::Mul)
      for (const size_t side : {0, 1})
        if (const std::optional<int64_t> factor = constant(op->operands[side]); factor && *factor != min_i64)
          return Term{sign * *factor, op->operands[1 - side]};
    return Term{sign, value};
  }

  /// What an iteration adds to the carried value `number`, or nothing where it does something else.
  std::optional<Increment> increment_of(size_t number) {
    const ValueId carried = body().arguments[places_.arguments + number];
    if (!may_count(function_.type(carried)))
      return std::nullopt;
    Increment increment;
    ValueId at = body().ops.back().operands[places_.yields + number];
    for (int length = 0; at != carried; ++length) {
      const Op *op = definitions_.find(at);
      if (length == longest_chain || !op || !inside_.contains(at))
        return std::nullopt;
      const bool commutes = op->opcode == Opcode::Add;
      if (!commutes && op->opcode != Opcode::Sub && op->opcode != Opcode::PtrAdd)
        return std::nullopt;
      const size_t added = commutes && is_invariant(op->operands[0]) ? 0 : 1;
      const std::optional<Term> term = term_of(op->operands[added], op->opcode == Opcode::Sub ? -1 : 1);
      if (!term)
        return std::nullopt;
      increment.terms.push_back(*term);
      increment.location = op->location;
      at = op->operands[1 - added];
    }
    return increment.terms.empty() ? std::nullopt : std::optional(increment);
  }

  /// The element in which index - first, and what it is multiplied by, is computed. Offsets of pointers are
  /// exact in 64 bits, and in 32 where they are known to fit.
  Element element_of(const Type &type, const Increment &increment, int64_t step) const {
    if (!type.pointer)
      return type.element;
    const std::optional<int64_t> first = constant(loop_.operands[0]), last = constant(loop_.operands[1]);
    const bool is_plain = increment.terms.size() == 1 && !increment.terms[0].value && first && *first >= 0 &&
                          function_.type(loop_.operands[0]).element == Element::I32;
    if (!is_plain)
      return Element::I64;
    const int64_t factor = increment.terms[0].factor;
    const bool is_index = factor == step || factor == -step;
    int64_t largest = 0;
    const bool fits = last && !__builtin_mul_overflow(*last, factor, &largest) &&
                      std::abs(largest) <= std::numeric_limits<int32_t>::max();
    return is_index || (fits && factor % step == 0) ? Element::I32 : Element::I64;
  }

  static bool divides(int64_t step, const Increment &increment) {
    return std::all_of(increment.terms.begin(), increment.terms.end(),
                       [&](const Term &term) { return term.factor % step == 0; });
  }

  /// The sum of all terms after `way` / step iterations; `way` is i64 where a term needs the quotient.
  ValueId total(ScalarCode &code, const Increment &increment, ValueId way, Element element, int64_t step) {
    std::optional<ValueId> sum;
    for (const Term &term : increment.terms) {
      const bool is_multiple = term.factor % step == 0;
      ValueId part = way;
      if (!is_multiple && step > 1)
        part = code.binary(Opcode::Div, part, code.integer(function_.type(part).element, step));
      part = code.times(code.cast(part, element), is_multiple ? term.factor / step : term.factor);
      if (term.value)
        part = code.binary(Opcode::Mul, part, code.cast(code.invariant(*term.value), element));
      sum = sum ? code.binary(Opcode::Add, *sum, part) : part;
    }
    return *sum;
  }

  void rewrite(size_t number, const Increment &increment, int64_t step, std::vector<Op> &behind) {
    const ValueId init = loop_.operands[places_.inits + number];
    const ValueId carried = body().arguments[places_.arguments + number];
    const ValueId result = loop_.results[number];
    const Type type = function_.type(carried);
    const Element element = element_of(type, increment, step);
    const Element way_element = divides(step, increment) ? element : Element::I64;

    ScalarCode begin(function_, definitions_, inside_, increment.location);
    ValueId way = begin.cast(body().arguments[0], way_element);
    if (constant(loop_.operands[0]) != 0)
      way = begin.binary(Opcode::Sub, way, begin.cast(loop_.operands[0], way_element));
    begin.add_to(carried, init, total(begin, increment, way, element, step));

    ScalarCode end(function_, definitions_, inside_, increment.location);
    ValueId length = end.binary(Opcode::Sub, end.cast(loop_.operands[1], Element::I64),
                                end.cast(loop_.operands[0], Element::I64));
    length = end.binary(Opcode::Max, length, end.integer(Element::I64, 0));
    if (step > 1)
      length = end.times(end.binary(Opcode::CeilDiv, length, end.integer(Element::I64, step)), step);
    end.add_to(result, init, total(end, increment, length, element, step));

    remove(number);
    std::vector<Op> first = begin.take(), last = end.take();
    body().ops.insert(body().ops.begin(), first.begin(), first.end());
    behind.insert(behind.end(), last.begin(), last.end());
    for (const Op &op : first)
      inside_.insert(op.results.begin(), op.results.end());
  }

  void remove(size_t number) {
    const auto drop = [](std::vector<ValueId> &values, size_t at) {
      values.erase(values.begin() + static_cast<std::ptrdiff_t>(at));
    };
    drop(body().ops.back().operands, places_.yields + number);
    drop(body().arguments, places_.arguments + number);
    drop(loop_.operands, places_.inits + number);
    drop(loop_.results, number);
  }

  static constexpr int64_t min_i64 = std::numeric_limits<int64_t>::min();

  Function &function_;
  Definitions &definitions_;
  Op &loop_;
  std::set<ValueId> inside_;
};

/// Inner loops first: what they leave is a function of the outer loop's values.
void rewrite(Function &function, Definitions &definitions, Block &block) {
  for (size_t i = 0; i < block.ops.size(); ++i) {
    for (Block &inner : block.ops[i].blocks)
      rewrite(function, definitions, inner);
    if (block.ops[i].opcode != Opcode::For)
      continue;
    const std::vector<Op> behind = LoopCounters(function, definitions, block.ops[i]).rewrite();
    block.ops.insert(block.ops.begin() + static_cast<std::ptrdiff_t>(i) + 1, behind.begin(), behind.end());
    i += behind.size();
  }
}

} // namespace

void rewrite_inductions(Function &function) {
  if (!has_counters(function, function.body))
    return;
  Definitions definitions;
  definitions.add(function.body);
  rewrite(function, definitions, function.body);
}

} // namespace nereid::ir
