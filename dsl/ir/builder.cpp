// Values, operations in order and structured regions of the function under construction.
#include "dsl/ir/builder.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "dsl/ir/limits.h"

namespace nereid::ir {

static void replace_uses(Block &block, const std::map<ValueId, ValueId> &replacement) {
  for (Op &op : block.ops) {
    for (ValueId &operand : op.operands)
      if (auto found = replacement.find(operand); found != replacement.end())
        operand = found->second;
    for (Block &inner : op.blocks)
      replace_uses(inner, replacement);
  }
}

Builder::Builder(std::string name) {
  function_.name = std::move(name);
  regions_.emplace_back();
}

void Builder::set_location(const SourceLine &location) {
  if (function_.locations[location_] != location) {
    auto [found, is_new] =
        location_index_.try_emplace({location.file, location.line}, function_.locations.size());
    if (is_new)
      function_.locations.push_back(location);
    location_ = found->second;
  }
  locate_negations();
}

void Builder::locate_negations() {
  const std::span<Op> waiting = std::span(regions_.back().block.ops).last(std::exchange(unlocated_, 0));
  for (Op &op : waiting) {
    op.location = definitions_[op.result()].location = location_;
    use(op.operands[0]);
  }
}

void Builder::fail(std::string message, std::string remedy) const {
  throw TraceError(user_error(std::move(message), std::move(remedy), location()));
}

bool Builder::visible(ValueId value) const {
  return std::any_of(regions_.begin(), regions_.end(),
                     [&](const Region &region) { return region.serial == definitions_[value].region; });
}

void Builder::use(ValueId value) const {
  if (visible(value))
    return;
  fail(fmt::format("a value defined at {} inside a loop or branch is used at {} outside of it",
                   location_of(value).text(), location().text()),
       "Declare a Var before the loop or branch and assign the value to it inside");
}

ValueId Builder::new_value(Type type) {
  definitions_.push_back({location_, region(), {}});
  return function_.new_value(std::move(type));
}

Op &Builder::emit(Opcode opcode, std::vector<ValueId> operands, std::vector<Type> results,
                  Attributes attributes) {
  for (ValueId operand : operands)
    use(operand);
  Op op;
  op.opcode = opcode;
  op.operands = std::move(operands);
  op.attributes = std::move(attributes);
  op.location = location_;
  for (Type &type : results)
    op.results.push_back(new_value(std::move(type)));
  regions_.back().block.ops.push_back(std::move(op));
  return regions_.back().block.ops.back();
}

ValueId Builder::emit_one(Opcode opcode, std::vector<ValueId> operands, Type result, Attributes attributes) {
  return emit(opcode, std::move(operands), {std::move(result)}, std::move(attributes)).result();
}

ValueId Builder::argument_constant(Element element, int64_t value) {
  const ValueId constant = integer(element, value);
  definitions_[constant].from_argument = true;
  return constant;
}

ValueId Builder::argument(Type type, std::string name, bool read_only, int64_t divisibility,
                          std::optional<int64_t> constant, int64_t pointer_range) {
  ValueId value = new_value(std::move(type));
  function_.arguments.push_back({value, read_only, divisibility, constant, pointer_range});
  function_.argument_names.push_back(std::move(name));
  return value;
}

Op &Builder::open_region(Opcode opcode, std::vector<ValueId> operands) {
  for (ValueId operand : operands)
    use(operand);
  if (regions_.size() > max_nesting)
    fail(fmt::format("loops and branches are nested more than {} deep", max_nesting),
         "Join conditions with & and |, and count the product of nested loops in one");
  Region &inner = regions_.emplace_back();
  inner.serial = next_region_++;
  inner.op.opcode = opcode;
  inner.op.location = location_;
  inner.op.operands = std::move(operands);
  return inner.op;
}

void Builder::check_stages(int stages) const {
  if (stages < 1 || stages > max_stages)
    fail(fmt::format("range: stages is {}", stages),
         fmt::format("A pipeline has 1 to {} stages", max_stages));
}

Builder::Loop Builder::begin_for(ValueId first, ValueId last, ValueId step, int stages,
                                 std::span<const ValueId> inits) {
  for (ValueId bound : {first, last, step}) {
    require_value("range", bound);
    if (type(bound).rank() != 0)
      fail(fmt::format("range: a bound is a tile of shape {}", text(type(bound).shape)),
           "Bounds and step are scalars: reduce the tile, or compute the bound from scalars");
  }
  Element element = type(first).element;
  require_element("range", first, element == Element::I32 || element == Element::I64, "i32 or i64");
  if (type(last) != type(first) || type(step) != type(first))
    fail("range: first, last and step have different element types",
         "Convert them with .to<i32>() or .to<i64>()");
  if (std::optional<int64_t> known = constant_of(step); known && *known <= 0)
    fail(fmt::format("range: the step is {}", *known), "Use a positive step and count down inside the body");
  check_stages(stages);
  std::vector<ValueId> operands{first, last, step};
  operands.insert(operands.end(), inits.begin(), inits.end());
  open_region(Opcode::For, std::move(operands)).attributes["stages"] = stages;
  Loop loop;
  loop.index = new_value(Type::scalar(element));
  for (ValueId init : inits)
    loop.carried.push_back(new_value(type(init)));
  Block &block = regions_.back().block;
  block.arguments = loop.carried;
  block.arguments.insert(block.arguments.begin(), loop.index);
  return loop;
}

std::vector<ValueId> Builder::end_for(std::span<const ValueId> yields) {
  for (ValueId yield : yields)
    use(yield);
  Region loop = std::move(regions_.back());
  regions_.pop_back();
  return close_loop(std::move(loop), {}, yields);
}

std::vector<ValueId> Builder::end_for_while(std::span<const ValueId> yields, size_t running) {
  const ValueId index = regions_.back().block.arguments[0];
  const ValueId first = regions_.back().op.operands[0], last = regions_.back().op.operands[1],
                step = regions_.back().op.operands[2];
  const Element counter = type(first).element == Element::I32 ? Element::U32 : Element::U64;
  // The index is below the last one here: their distance is exact as an unsigned number.
  const ValueId distance = bitcast(binary(Opcode::Sub, last, index), counter);
  const ValueId more = binary(Opcode::Gt, distance, bitcast(step, counter));
  const ValueId goes_on = binary(Opcode::And, yields[running], more);
  std::vector<ValueId> following{binary(Opcode::Add, index, step)};
  following.insert(following.end(), yields.begin(), yields.end());
  following[running + 1] = regions_.back().block.arguments[running + 1]; // true in every iteration
  for (ValueId yield : following)
    use(yield);

  Region loop = std::move(regions_.back());
  regions_.pop_back();
  const ValueId zero = integer(type(step).element, 0);
  const ValueId any = binary(Opcode::And, binary(Opcode::Lt, first, last), binary(Opcode::Gt, step, zero));
  loop.op.opcode = Opcode::While;
  loop.op.attributes.clear();
  loop.op.operands[2] = first;
  loop.op.operands[1] = any;
  loop.op.operands.erase(loop.op.operands.begin());
  std::vector<ValueId> results = close_loop(std::move(loop), {goes_on}, following);
  results.erase(results.begin());
  return results;
}

std::vector<ValueId> Builder::begin_while(ValueId condition, std::span<const ValueId> inits) {
  check_condition("loop_while", condition);
  std::vector<ValueId> operands{condition};
  operands.insert(operands.end(), inits.begin(), inits.end());
  open_region(Opcode::While, std::move(operands));
  std::vector<ValueId> carried;
  for (ValueId init : inits)
    carried.push_back(new_value(type(init)));
  regions_.back().block.arguments = carried;
  return carried;
}

std::vector<ValueId> Builder::end_while(ValueId condition, std::span<const ValueId> yields) {
  check_condition("loop_while", condition);
  use(condition);
  for (ValueId yield : yields)
    use(yield);
  Region loop = std::move(regions_.back());
  regions_.pop_back();
  return close_loop(std::move(loop), {condition}, yields);
}

std::vector<ValueId> Builder::close_loop(Region loop, std::vector<ValueId> leading,
                                         std::span<const ValueId> yields) {
  Op op = std::move(loop.op);
  Block &block = loop.block;
  const CarriedPlaces places = carried_places(op.opcode);
  const auto from = [](const std::vector<ValueId> &values, size_t first) {
    return std::vector<ValueId>(values.begin() + static_cast<std::ptrdiff_t>(first), values.end());
  };
  const std::vector<ValueId> inits = from(op.operands, places.inits);
  const std::vector<ValueId> carried = from(block.arguments, places.arguments);
  op.operands.resize(places.inits);
  block.arguments.resize(places.arguments);

  Op yield;
  yield.opcode = Opcode::Yield;
  yield.location = op.location;
  yield.operands = std::move(leading);
  std::map<ValueId, ValueId> unchanged;
  std::vector<ValueId> results;
  for (size_t i = 0; i < inits.size(); ++i) {
    if (yields[i] == carried[i]) {
      unchanged[carried[i]] = inits[i];
      results.push_back(inits[i]);
      continue;
    }
    op.operands.push_back(inits[i]);
    block.arguments.push_back(carried[i]);
    yield.operands.push_back(yields[i]);
    op.results.push_back(new_value(type(carried[i])));
    definitions_.back().location = op.location;
    results.push_back(op.results.back());
  }
  block.ops.push_back(std::move(yield));
  if (!unchanged.empty())
    replace_uses(block, unchanged);
  op.blocks.push_back(std::move(block));
  regions_.back().block.ops.push_back(std::move(op));
  return results;
}

void Builder::check_condition(std::string_view what, ValueId condition) const {
  require_value(what, condition);
  require_element(what, condition, type(condition).element == Element::I1, "i1");
  if (type(condition).rank() != 0)
    fail(fmt::format("{}: the condition is a tile of shape {}, not one truth value", what,
                     text(type(condition).shape)),
         "Choose per element with where(condition, a, b), or reduce the condition with any(condition, axis)");
}

void Builder::begin_if(ValueId condition, std::string_view what) {
  check_condition(what, condition);
  open_region(Opcode::If, {condition});
}

void Builder::begin_else() {
  Region &inner = regions_.back();
  inner.op.blocks.push_back(std::move(inner.block));
  inner.block = Block();
  inner.serial = next_region_++;
}

std::vector<ValueId> Builder::end_if(std::span<const std::pair<ValueId, ValueId>> yields) {
  Region inner = std::move(regions_.back());
  regions_.pop_back();
  Op op = std::move(inner.op);
  op.blocks.push_back(std::move(inner.block));
  for (size_t branch = 0; branch < 2; ++branch) {
    Op yield;
    yield.opcode = Opcode::Yield;
    yield.location = op.location;
    for (const auto &[then, otherwise] : yields)
      yield.operands.push_back(branch == 0 ? then : otherwise);
    op.blocks[branch].ops.push_back(std::move(yield));
  }
  for (const auto &yield : yields) {
    op.results.push_back(new_value(type(yield.first)));
    definitions_.back().location = op.location;
  }
  std::vector<ValueId> results = op.results;
  regions_.back().block.ops.push_back(std::move(op));
  return results;
}

Function Builder::finish() {
  locate_negations();
  function_.body = std::move(regions_.front().block);
  return std::move(function_);
}

} // namespace nereid::ir
