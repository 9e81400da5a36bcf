// Checks all rules of the tile IR that hold between operations, and calls those of each one.
#include "dsl/ir/verifier.h"

#include <fmt/format.h>

#include "dsl/ir/attribute_rules.h"
#include "dsl/ir/limits.h"
#include "dsl/ir/printer.h"
#include "dsl/ir/type_rules.h"

namespace nereid::ir {
namespace {

constexpr int64_t max_tile_elements = int64_t{1} << 27;

class Verifier {
public:
  explicit Verifier(const Function &function)
      : function_(function), visible_(function.value_types.size()), defined_(function.value_types.size()),
        read_only_(function.value_types.size()) {}

  Status run() {
    const CompileOptions &options = function_.options;
    if (options.waves < 1 || options.waves > max_waves || (options.mfma != 16 && options.mfma != 32) ||
        options.waves_per_eu < 0 || static_cast<size_t>(options.wave_split) >= wave_split_names.size())
      return nereid_error(fmt::format("options of @{}: waves is 1 to 16, mfma 16 or 32, waves_per_eu not "
                                      "negative, wave_split auto, n, k or mn",
                                      function_.name));
    for (const Argument &argument : function_.arguments)
      if (auto complaint = check_argument(argument))
        return nereid_error(
            fmt::format("argument %{} of @{}: {}", argument.value, function_.name, *complaint));
    check_block(function_.body, nullptr, 0);
    return status_;
  }

private:
  bool fail(const Op &op, const std::string &message) {
    const SourceLine location =
        op.location < function_.locations.size() ? function_.location(op) : SourceLine{};
    status_ = nereid_error(fmt::format("malformed tile IR, operation {} of @{}: {}: {}", line_,
                                       function_.name, print(function_, op), message),
                           "Report it with the kernel", location);
    return false;
  }

  Complaint check_type(const Type &type) const {
    int64_t count = 1;
    for (int64_t size : type.shape) {
      count = size > max_tile_elements ? size : count * size;
      if (size < 1 || count > max_tile_elements)
        return fmt::format("{}: a dimension is at least 1, a tile at most {} elements", type.text(),
                           max_tile_elements);
    }
    return {};
  }

  Complaint define(ValueId value) {
    if (value >= visible_.size())
      return fmt::format("%{} has no type", value);
    if (defined_[value])
      return fmt::format("%{} is defined a second time", value);
    defined_[value] = visible_[value] = true;
    return check_type(function_.type(value));
  }

  Complaint check_argument(const Argument &argument) {
    if (auto complaint = define(argument.value))
      return complaint;
    const Type &type = function_.type(argument.value);
    const unsigned bits = facts(type.element).bits;
    const bool is_number = is_integer(type.element) && bits >= 32;
    const bool is_real = is_float(type.element) && !is_small_float(type.element);
    const bool passable = type.pointer || is_number || is_real || bits == 1;
    if (type.rank() != 0 || !passable)
      return fmt::format(
          "an argument is a pointer, an integer of 32 or 64 bits, f64, f32, f16, bf16 or i1, not {}",
          type.text());
    if (argument.divisibility < 1)
      return "divisibility is at least 1";
    if (argument.constant && (type.pointer || !is_number))
      return "only an integer has a constant";
    if (argument.constant && *argument.constant % argument.divisibility != 0)
      return "the constant contradicts the divisibility";
    if (argument.pointer_range != 0 && (argument.pointer_range != 32 || !type.pointer))
      return "only a pointer has a range, of 32";
    read_only_[argument.value] = type.pointer && argument.read_only;
    return {};
  }

  Complaint check_counts(const Op &op) const {
    const OpFacts &wanted = facts(op.opcode);
    if (!wanted.operands.contains(op.operands.size()))
      return fmt::format("{} operands are too {}", op.operands.size(),
                         op.operands.size() < wanted.operands.min ? "few" : "many");
    if (!wanted.results.contains(op.results.size()))
      return fmt::format("{} results instead of {}", op.results.size(), wanted.results.min);
    if (op.blocks.size() != wanted.regions)
      return fmt::format("{} regions instead of {}", op.blocks.size(), wanted.regions);
    if (op.location >= function_.locations.size())
      return "it has no location";
    return {};
  }

  static Complaint check_attributes(const Op &op) {
    size_t known = 0;
    for (const AttributeRule &rule : attribute_rules()) {
      if (rule.opcode != op.opcode)
        continue;
      const auto found = op.attributes.find(rule.name);
      if (found == op.attributes.end()) {
        if (rule.required)
          return fmt::format("attribute {} is missing", rule.name);
        continue;
      }
      ++known;
      static constexpr std::string_view kinds[] = {"a number", "a string", "a list of numbers"};
      if (found->second.index() != static_cast<size_t>(rule.kind))
        return fmt::format("attribute {} is {}", rule.name, kinds[static_cast<size_t>(rule.kind)]);
    }
    if (known != op.attributes.size())
      return "an attribute that the operation does not have";
    return {};
  }

  /// A pointer derived from a read-only argument may not be written through.
  Complaint check_writes(const Op &op) {
    const OpClass op_class = facts(op.opcode).op_class;
    if (op_class == OpClass::Memory && op.opcode != Opcode::Load && read_only_[op.operands[0]])
      return "it writes through a read-only argument";
    if (op_class == OpClass::Shape || op.opcode == Opcode::PtrAdd)
      for (ValueId result : op.results)
        read_only_[result] = read_only_[op.operands[0]];
    return {};
  }

  Complaint check_uses(const Op &op) const {
    for (ValueId operand : op.operands)
      if (operand >= visible_.size() || !visible_[operand])
        return fmt::format("%{} is not defined here", operand);
    return {};
  }

  Complaint check_first(const Op &op) const {
    const ElementSet taken = facts(op.opcode).first;
    if (op.operands.empty() || contains(taken, function_.type(op.operands[0])))
      return {};
    return fmt::format("operand 0 is {}, not {}", function_.type(op.operands[0]).text(), describe(taken));
  }

  bool check_op(const Op &op, const Op *parent, unsigned depth) {
    Complaint complaint = check_counts(op);
    if (!complaint)
      complaint = check_attributes(op);
    if (!complaint)
      complaint = check_uses(op);
    if (!complaint)
      complaint = check_first(op);
    // Results become visible after the regions; their types are checked before.
    for (size_t i = 0; !complaint && i < op.results.size(); ++i)
      if (complaint = define(op.results[i]); !complaint)
        visible_[op.results[i]] = false;
    if (!complaint)
      complaint = type_error(function_, op);
    if (!complaint)
      complaint = check_writes(op);
    if (!complaint && op.opcode == Opcode::Yield)
      complaint = check_yield(op, parent);
    else if (!complaint && parent != nullptr && is_fold(parent->opcode))
      complaint = check_combining(op);
    if (complaint)
      return fail(op, *complaint);
    if (!op.blocks.empty() && depth >= max_nesting)
      return fail(op, fmt::format("regions are nested more than {} deep", max_nesting));
    for (const Block &block : op.blocks)
      if (!check_block(block, &op, depth + 1))
        return false;
    for (ValueId result : op.results)
      visible_[result] = true;
    return true;
  }

  Complaint check_yield(const Op &yield, const Op *parent) const {
    if (parent == nullptr)
      return "yield is outside of a region";
    const size_t first = carried_places(parent->opcode).yields;
    if (yield.operands.size() != first + parent->results.size())
      return fmt::format("{} values for {} results", yield.operands.size(), parent->results.size());
    for (size_t i = 0; i < yield.operands.size(); ++i) {
      const Type &found = function_.type(yield.operands[i]);
      const Type wanted = i < first                 ? Type::scalar(Element::I1)
                          : is_fold(parent->opcode) ? element_of(parent->operands[i])
                                                    : function_.type(parent->results[i - first]);
      if (found != wanted)
        return fmt::format("value {} is {}, not {}", i, found.text(), wanted.text());
    }
    return {};
  }

  Type element_of(ValueId tile) const { return Type::scalar(function_.type(tile).element); }

  /// What the arguments of an operation's regions are.
  std::vector<Type> argument_types(const Op &op) const {
    std::vector<Type> types;
    if (op.opcode == Opcode::For)
      types.push_back(function_.type(op.operands[0]));
    for (size_t i = carried_places(op.opcode).inits; is_loop(op.opcode) && i < op.operands.size(); ++i)
      types.push_back(function_.type(op.operands[i]));
    for (int side = 0; is_fold(op.opcode) && side < 2; ++side)
      for (ValueId operand : op.operands)
        types.push_back(element_of(operand));
    return types;
  }

  Complaint check_block_arguments(const Block &block, const Op *parent) {
    const std::vector<Type> wanted = parent != nullptr ? argument_types(*parent) : std::vector<Type>();
    if (block.arguments.size() != wanted.size())
      return fmt::format("a region with {} arguments instead of {}", block.arguments.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (auto complaint = define(block.arguments[i]))
        return complaint;
      if (function_.type(block.arguments[i]) != wanted[i])
        return fmt::format("%{} is {}, not {}", block.arguments[i], function_.type(block.arguments[i]).text(),
                           wanted[i].text());
    }
    return {};
  }

  /// A combining function computes scalars of scalars.
  Complaint check_combining(const Op &op) const {
    return may_combine(function_, op) ? Complaint()
                                      : Complaint("a combining function has scalar constants and elementwise "
                                                  "operations only");
  }

  bool check_block(const Block &block, const Op *parent, unsigned depth) {
    if (auto complaint = check_block_arguments(block, parent))
      return parent != nullptr ? fail(*parent, *complaint)
                               : (status_ = nereid_error("the body has no arguments"), false);
    if (parent != nullptr && (block.ops.empty() || block.ops.back().opcode != Opcode::Yield))
      return fail(*parent, "a region ends in yield");
    for (const Op &op : block.ops) {
      ++line_;
      if (op.opcode == Opcode::Yield && &op != &block.ops.back())
        return fail(op, "yield is the last operation of its region");
      if (!check_op(op, parent, depth))
        return false;
    }
    for (ValueId argument : block.arguments)
      visible_[argument] = false;
    for (const Op &op : block.ops)
      for (ValueId result : op.results)
        visible_[result] = false;
    return true;
  }

  const Function &function_;
  std::vector<bool> visible_; ///< may be used at the current operation
  std::vector<bool> defined_;
  std::vector<bool> read_only_; ///< a pointer that comes from a read-only argument
  Status status_;
  unsigned line_ = 0;
};

} // namespace

Status verify(const Function &function) { return Verifier(function).run(); }

} // namespace nereid::ir
