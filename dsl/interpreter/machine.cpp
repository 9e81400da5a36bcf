// Runs the operations of one program in order.
#include "dsl/interpreter/machine.h"

#include <bit>

#include "dsl/interpreter/numbers.h"
#include "dsl/interpreter/operations.h"
#include "dsl/interpreter/poison.h"

namespace nereid::interpreter {

using ir::Opcode;

/// An argument's bits as a tensor stores them.
static uint64_t stored_bits(const ir::Type &type, uint64_t bits) {
  if (type.pointer)
    return bits;
  switch (type.element) {
  case ir::Element::F16:
    return std::bit_cast<uint32_t>(f16_value(static_cast<uint16_t>(bits)));
  case ir::Element::BF16:
    return std::bit_cast<uint32_t>(bf16_value(static_cast<uint16_t>(bits)));
  case ir::Element::I1:
    return bits & 1;
  default:
    return bits;
  }
}

Machine::Machine(const Launch &launch, std::span<const uint64_t> arguments) : frame_(launch) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::ValueId value = launch.function.arguments[i].value;
    const uint64_t bits = stored_bits(frame_.type(value), arguments[i]);
    Tensor &tensor = frame_.values[value];
    with_width(frame_.type(value), [&](auto zero) {
      using T = decltype(zero);
      tensor.reset(sizeof(T));
      *tensor.as<T>() = static_cast<T>(bits);
    });
  }
}

Status Machine::run(const std::array<uint32_t, 3> &program) {
  frame_.program = program;
  frame_.undefined_reads.clear();
  while_iterations_ = 0;
  return run_block(frame_.launch.function.body);
}

Status Machine::run_block(const ir::Block &block) {
  for (const ir::Op &op : block.ops)
    NEREID_CHECK(run_op(op));
  return {};
}

/// Elementwise operations with rules of their own that cannot fail.
static void run_elementwise(Frame &frame, const ir::Op &op) {
  switch (op.opcode) {
  case Opcode::Fma:
    return run_fma(frame, op);
  case Opcode::Where:
    return run_where(frame, op);
  case Opcode::Cast:
    return run_cast(frame, op);
  case Opcode::Bitcast:
    return run_bitcast(frame, op);
  case Opcode::PtrAdd:
    return run_pointer_add(frame, op);
  case Opcode::IntToPtr:
    return run_int_to_ptr(frame, op);
  default: // CvtScaled
    return run_cvt_scaled(frame, op);
  }
}

static int64_t scalar(const Frame &frame, const ir::Op &op, size_t operand) {
  const Tensor &tensor = frame.in(op, operand);
  return frame.in_type(op, operand).element == ir::Element::I32 ? *tensor.as<int32_t>()
                                                                : *tensor.as<int64_t>();
}

Status Machine::run_for(const ir::Op &op) {
  for (size_t i = 0; i < 3; ++i)
    NEREID_CHECK(observe(frame_, op, i, "reaches the bounds of a loop", Use::Value));
  const int64_t first = scalar(frame_, op, 0), last = scalar(frame_, op, 1), step = scalar(frame_, op, 2);
  if (step <= 0)
    return frame_.error(op, "the step of the loop is " + std::to_string(step), "Use a positive step");
  const ir::Block &body = op.blocks.front();
  const ir::Op &yield = body.ops.back();
  std::vector<Tensor> carried;
  for (size_t i = 3; i < op.operands.size(); ++i)
    carried.push_back(frame_.in(op, i));
  const auto index_poison = frame_.in(op, 0).poison;
  // The last index may be close to the largest number.
  const uint64_t distance = first < last ? static_cast<uint64_t>(last) - static_cast<uint64_t>(first) : 0;
  const uint64_t count =
      distance / static_cast<uint64_t>(step) + (distance % static_cast<uint64_t>(step) != 0);
  for (uint64_t i = 0; i < count; ++i) {
    Tensor &index = frame_.values[body.arguments[0]];
    const int64_t value =
        static_cast<int64_t>(static_cast<uint64_t>(first) + i * static_cast<uint64_t>(step));
    with_width(frame_.in_type(op, 0), [&](auto zero) {
      index.reset(sizeof zero);
      *index.as<decltype(zero)>() = static_cast<decltype(zero)>(value);
    });
    index.poison = index_poison;
    for (size_t c = 0; c < carried.size(); ++c)
      frame_.values[body.arguments[c + 1]] = std::move(carried[c]);
    NEREID_CHECK(run_block(body));
    for (size_t c = 0; c < carried.size(); ++c)
      carried[c] = frame_.in(yield, c);
  }
  for (size_t c = 0; c < carried.size(); ++c)
    frame_.values[op.results[c]] = std::move(carried[c]);
  return {};
}

Status Machine::run_while(const ir::Op &op) {
  NEREID_CHECK(observe(frame_, op, 0, "reaches the condition of a loop", Use::Value));
  const ir::Block &body = op.blocks.front();
  const ir::Op &yield = body.ops.back();
  std::vector<Tensor> carried;
  for (size_t i = 1; i < op.operands.size(); ++i)
    carried.push_back(frame_.in(op, i));
  for (bool more = *frame_.in(op, 0).as<uint8_t>() != 0; more;
       more = *frame_.in(yield, 0).as<uint8_t>() != 0) {
    if (frame_.launch.while_iterations == while_iterations_)
      return frame_.error(
          op,
          "the program's loops with a condition have run " + std::to_string(while_iterations_) +
              " iterations",
          "Make the condition false at some time, or raise InterpretOptions::while_iterations");
    ++while_iterations_;
    for (size_t c = 0; c < carried.size(); ++c)
      frame_.values[body.arguments[c]] = std::move(carried[c]);
    NEREID_CHECK(run_block(body));
    NEREID_CHECK(observe(frame_, yield, 0, "reaches the condition of a loop", Use::Value));
    for (size_t c = 0; c < carried.size(); ++c)
      carried[c] = frame_.in(yield, c + 1);
  }
  for (size_t c = 0; c < carried.size(); ++c)
    frame_.values[op.results[c]] = std::move(carried[c]);
  return {};
}

Status Machine::run_if(const ir::Op &op) {
  NEREID_CHECK(observe(frame_, op, 0, "reaches a branch", Use::Value));
  const ir::Block &block = op.blocks[*frame_.in(op, 0).as<uint8_t>() != 0 ? 0 : 1];
  NEREID_CHECK(run_block(block));
  for (size_t i = 0; i < op.results.size(); ++i)
    frame_.values[op.results[i]] = frame_.in(block.ops.back(), i);
  return {};
}

Status Machine::run_op(const ir::Op &op) {
  const auto done = [&](void (*run)(Frame &, const ir::Op &)) -> Status {
    run(frame_, op);
    return {};
  };
  switch (ir::facts(op.opcode).op_class) {
  case ir::OpClass::Source:
    return done(run_source);
  case ir::OpClass::Shape:
    return done(run_shape);
  case ir::OpClass::Unary:
    return done(run_unary);
  case ir::OpClass::Binary:
    return done(run_binary);
  case ir::OpClass::Compare:
    return done(run_compare);
  case ir::OpClass::Reduce:
    return op.opcode == Opcode::Reduce ? run_fold(op) : done(run_reduce);
  case ir::OpClass::Memory:
    return op.opcode == Opcode::Load    ? run_load(frame_, op)
           : op.opcode == Opcode::Store ? run_store(frame_, op)
                                        : run_atomic(frame_, op);
  case ir::OpClass::Statement:
    return run_statement(frame_, op);
  case ir::OpClass::Region:
    return op.opcode == Opcode::For     ? run_for(op)
           : op.opcode == Opcode::While ? run_while(op)
           : op.opcode == Opcode::If    ? run_if(op)
                                        : Status();
  case ir::OpClass::Scan:
    return op.opcode == Opcode::Scan     ? run_fold(op)
           : op.opcode == Opcode::CumSum ? done(run_cumsum)
                                         : done(run_butterfly);
  case ir::OpClass::Gather:
    return run_gather(frame_, op);
  case ir::OpClass::Matrix:
    return done(op.opcode == Opcode::Dot         ? run_dot
                : op.opcode == Opcode::DotScaled ? run_dot_scaled
                                                 : run_quantize);
  case ir::OpClass::Elementwise:
    return op.opcode == Opcode::InlineAsm ? run_inline_asm(frame_, op) : done(run_elementwise);
  }
  return {};
}

} // namespace nereid::interpreter
