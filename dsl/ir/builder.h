#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dsl/ir/format.h"
#include "dsl/ir/function.h"
#include "dsl/ir/trace_error.h"

namespace nereid::ir {

/// Builds the operations of one function: infers result types, inserts broadcasts, folds integer constants
/// and keeps the structured regions. Every wrong use throws a TraceError (Owner::User) at the current
/// location.
///
/// Shapes broadcast in one way: equal shapes, a rank-0 value with anything, or equal rank where one size
/// is 1.
class Builder {
public:
  explicit Builder(std::string name);

  /// The location of the operations to come, and of errors.
  void set_location(const SourceLine &location);
  const SourceLine &location() const { return function_.locations[location_]; }
  const Function &function() const { return function_; }
  const Type &type(ValueId value) const { return function_.type(value); }
  /// Where a value is defined; line 0 for arguments of the kernel.
  const SourceLine &location_of(ValueId value) const {
    return function_.locations[definitions_[value].location];
  }
  /// Whether the value may be used here: defined in an open region.
  bool visible(ValueId value) const;
  /// The open region: 0 is the kernel's body, no two regions of a function have one number.
  unsigned region() const { return regions_.back().serial; }
  /// The integer (or bool) that a value is known to be everywhere.
  std::optional<int64_t> constant_of(ValueId value) const;
  [[noreturn]] void fail(std::string message, std::string remedy) const;

  ValueId argument(Type type, std::string name, bool read_only = false, int64_t divisibility = 1,
                   std::optional<int64_t> constant = {}, int64_t pointer_range = 0);
  CompileOptions &options() { return function_.options; }

  /// A splat; `bits` is the element's bit pattern, zero-extended.
  ValueId constant(Type type, uint64_t bits);
  /// A splat of an integer that must be representable.
  ValueId integer(Element element, int64_t value, Shape shape = {});
  /// The value of an argument that the launch gives while tracing.
  ValueId argument_constant(Element element, int64_t value);
  ValueId program_id(int axis);
  ValueId num_programs(int axis);
  /// i32[last - first]
  ValueId arange(int64_t first, int64_t last);

  ValueId broadcast(ValueId value, const Shape &shape);
  /// The shape that two shapes broadcast to; `what` names the operation in the error.
  Shape common_shape(std::string_view what, const Shape &a, const Shape &b) const;
  /// The size of a dimension; axis counts from the end when negative.
  int64_t size(ValueId value, int axis) const;
  ValueId expand_dims(ValueId value, int axis);
  ValueId reshape(ValueId value, const Shape &shape);
  ValueId permute(ValueId value, const std::vector<int64_t> &order);
  std::pair<ValueId, ValueId> split(ValueId value);
  ValueId join(ValueId a, ValueId b);

  ValueId unary(Opcode opcode, ValueId value);
  /// The negation of an i1 at a line that set_location has yet to tell: C++'s ! cannot know its own.
  ValueId negate_ahead(ValueId value);
  /// Arithmetic, bit operations and comparisons.
  ValueId binary(Opcode opcode, ValueId a, ValueId b);
  /// The fast form of the operation that was just built and gives the value.
  ValueId as_fast(ValueId value);
  ValueId fma(ValueId a, ValueId b, ValueId c);
  ValueId where(ValueId condition, ValueId a, ValueId b);
  ValueId cast(ValueId value, Element element);
  ValueId bitcast(ValueId value, Element element);
  ValueId ptr_add(ValueId pointer, ValueId offset);
  /// Pointers to the element from addresses, i64 or u64.
  ValueId int_to_ptr(ValueId address, Element element);
  ValueId inline_asm(Element result, const std::string &text, const std::string &constraints,
                     HostFunction host, std::span<const ValueId> operands);
  ValueId cvt_scaled(Format format, ValueId even, ValueId odd, ValueId scale);

  /// axis counts from the end when negative; keep leaves a dimension of size 1.
  ValueId reduce(Opcode opcode, ValueId value, int axis, bool keep);
  ValueId cumsum(ValueId value, int axis);
  /// The index is i32 and has the value's sizes in all dimensions but `axis`, or 1 where that is repeated.
  ValueId gather(ValueId value, ValueId index, int axis);
  /// Element i of the result is element i ^ distance: a power of two or a sum of some, inside the power of
  /// two in the size.
  ValueId butterfly(ValueId value, int axis, int64_t distance);
  /// Opens the combining function of a Reduce or Scan of tiles of one shape. Gives its arguments: the
  /// elements of the earlier side, then those of the later one.
  std::vector<ValueId> begin_fold(Opcode opcode, std::span<const ValueId> values, int axis);
  /// Closes it; a scalar of each operand's element type. Only constants and elementwise operations on scalars
  /// may stand in it.
  std::vector<ValueId> end_fold(std::span<const ValueId> combined);

  /// Both bf16, both f16 or each fp8 or bf8 (to f32), or both i8 (to i32).
  ValueId dot(ValueId a, ValueId b);
  /// Codes of e4m3 or e5m2 without scales, to f32.
  ValueId dot(ValueId a, Format format_a, ValueId b, Format format_b);
  /// One side of dot_scaled; a bf16 or f16 tile has no scale and the format of its element.
  struct ScaledOperand {
    ValueId codes;
    std::optional<ValueId> scales;
    Format format;
  };
  ValueId dot_scaled(const ScaledOperand &a, const ScaledOperand &b);
  /// codes, scales
  std::pair<ValueId, ValueId> quantize(ValueId value, Format format, ScaleRule rule);

  ValueId load(ValueId pointer, std::optional<ValueId> mask, std::optional<ValueId> other,
               const std::string &cache);
  void store(ValueId pointer, ValueId value, std::optional<ValueId> mask, const std::string &cache);
  /// AtomicAdd and the others of one value, and AtomicCompareExchange (expected, desired).
  ValueId atomic(Opcode opcode, ValueId pointer, std::span<const ValueId> values, std::optional<ValueId> mask,
                 const std::string &order, const std::string &scope);

  void assume(ValueId condition);
  void device_assert(ValueId condition, const std::string &message);
  void device_print(const std::string &message, std::span<const ValueId> values);

  struct Loop {
    ValueId index;
    std::vector<ValueId> carried; ///< the values inside the body, one for each init
  };
  /// Refuses stages that no loop may have.
  void check_stages(int stages) const;
  /// Opens a loop's body. Any value that might change in the body is given as an init.
  Loop begin_for(ValueId first, ValueId last, ValueId step, int stages, std::span<const ValueId> inits);
  /// Closes it. A value whose yield is its own carried value did not change: it is no longer carried, and its
  /// result is its init.
  std::vector<ValueId> end_for(std::span<const ValueId> yields);
  /// Closes it as a `while` that also ends where the yield of init number `running`, an i1 that is true at
  /// first, is false. The result of `running` is its init.
  std::vector<ValueId> end_for_while(std::span<const ValueId> yields, size_t running);

  /// Opens the body of a loop that runs as long as a scalar i1 is true, tested before each iteration. Gives
  /// the values inside the body, one for each init.
  std::vector<ValueId> begin_while(ValueId condition, std::span<const ValueId> inits);
  /// Closes it; `condition` is for the next iteration. Unchanged values as in end_for.
  std::vector<ValueId> end_while(ValueId condition, std::span<const ValueId> yields);

  /// Refuses what is no scalar i1; `what` names the statement in errors.
  void check_condition(std::string_view what, ValueId condition) const;
  void begin_if(ValueId condition, std::string_view what = "when");
  void begin_else();
  /// Closes the branches; the pairs are (then, else) for each result.
  std::vector<ValueId> end_if(std::span<const std::pair<ValueId, ValueId>> yields);

  /// The function as traced (not canonical). The builder is left empty.
  Function finish();

private:
  struct Region {
    unsigned serial = 0;
    Block block;
    Op op; ///< the for or if under construction; unused for the body
  };
  /// Of a value: the line and the region that define it, and which constant it is.
  struct Definition {
    uint32_t location = 0;
    unsigned region = 0;
    std::optional<uint64_t> bits;
    bool from_argument = false; ///< a constant that the launch gave for an argument, or computed from one
  };

  void locate_negations();
  /// Ends a loop under construction, whose operands and arguments hold all that it might carry: `yields` are
  /// the carried values' and `leading` what the yield has before them.
  std::vector<ValueId> close_loop(Region loop, std::vector<ValueId> leading, std::span<const ValueId> yields);
  /// Opens a region of the operation, which is returned for its attributes.
  Op &open_region(Opcode opcode, std::vector<ValueId> operands);
  ValueId new_value(Type type);
  /// Checks that the operand may be used here.
  void use(ValueId value) const;
  Op &emit(Opcode opcode, std::vector<ValueId> operands, std::vector<Type> results,
           Attributes attributes = {});
  ValueId emit_one(Opcode opcode, std::vector<ValueId> operands, Type result, Attributes attributes = {});
  void require_value(std::string_view what, ValueId value) const;
  /// The value may be the first operand of the operation (ops.def).
  void require_operand(Opcode opcode, ValueId value) const;
  void require_element(std::string_view what, ValueId value, bool allowed, std::string_view wanted) const;
  size_t checked_axis(std::string_view what, ValueId value, int axis) const;
  void check_shape(std::string_view what, const Shape &shape) const;
  ValueId broadcast_operand(std::string_view what, ValueId value, const Shape &shape);
  /// The operands of one operation in the shape that all of them broadcast to.
  std::vector<ValueId> broadcast_together(std::string_view what, std::span<const ValueId> operands);
  std::vector<ValueId> broadcast_together(std::string_view what, std::initializer_list<ValueId> operands);
  Shape check_pointer(std::string_view what, ValueId pointer) const;
  ValueId memory_operand(std::string_view what, ValueId pointer, ValueId value);
  ValueId memory_mask(std::string_view what, ValueId pointer, ValueId mask);
  /// A mask that is true everywhere is none.
  void push_mask(std::vector<ValueId> &operands, ValueId mask) const;
  ValueId emit_dot(ValueId a, ValueId b, Element result, Attributes attributes);
  /// K of one side of dot_scaled.
  int64_t check_scaled(const ScaledOperand &side, bool is_a) const;
  std::optional<ValueId> fold(Opcode opcode, ValueId a, ValueId b);
  /// A constant that is computed from others.
  ValueId constant_from(std::initializer_list<ValueId> sources, Type type, uint64_t bits);

  Function function_;
  std::vector<Definition> definitions_; ///< by ValueId
  std::vector<Region> regions_;
  std::map<std::pair<std::string, unsigned>, uint32_t> location_index_;
  uint32_t location_ = 0;
  unsigned unlocated_ = 0; ///< negations at the end of the open region that have no line yet
  unsigned next_region_ = 1;
};

} // namespace nereid::ir
