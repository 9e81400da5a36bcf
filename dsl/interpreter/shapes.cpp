// Sources, and operations that only move elements.
#include <algorithm>
#include <cstring>

#include "dsl/interpreter/numbers.h"
#include "dsl/interpreter/operations.h"
#include "dsl/interpreter/poison.h"
#include "dsl/interpreter/strides.h"

namespace nereid::interpreter {

using ir::Opcode;

std::vector<size_t> row_major(const ir::Shape &shape) {
  std::vector<size_t> stride(shape.size());
  size_t step = 1;
  for (size_t d = shape.size(); d-- > 0; step *= static_cast<size_t>(shape[d]))
    stride[d] = step;
  return stride;
}

AxisView along(const ir::Shape &shape, size_t axis) {
  AxisView view;
  for (size_t d = 0; d < shape.size(); ++d)
    (d < axis ? view.outer : d == axis ? view.size : view.inner) *= static_cast<size_t>(shape[d]);
  return view;
}

/// Strides in the operand for each dimension of the result of broadcast or permute.
static std::vector<size_t> operand_strides(const Frame &frame, const ir::Op &op) {
  const ir::Shape &shape = frame.in_type(op, 0).shape;
  std::vector<size_t> stride = row_major(shape);
  if (op.opcode == Opcode::Permute) {
    std::vector<size_t> permuted;
    for (int64_t dimension : op.integers("order"))
      permuted.push_back(stride[static_cast<size_t>(dimension)]);
    return permuted;
  }
  stride.resize(frame.out_type(op).rank());
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 1)
      stride[d] = 0;
  return stride;
}

/// Moves elements of any kind, values and poisons alike.
template <class T>
static void move(const Frame &frame, const ir::Op &op, const T *const in[2], T *const out[2]) {
  const size_t n = static_cast<size_t>(frame.in_type(op, 0).count());
  switch (op.opcode) {
  case Opcode::Split:
    for (size_t i = 0; i < n / 2; ++i) {
      out[0][i] = in[0][2 * i];
      out[1][i] = in[0][2 * i + 1];
    }
    return;
  case Opcode::Join:
    for (size_t i = 0; i < n; ++i) {
      out[0][2 * i] = in[0][i];
      out[0][2 * i + 1] = in[1][i];
    }
    return;
  default: // Broadcast, Permute
    copy_strided(in[0], operand_strides(frame, op), frame.out_type(op).shape, out[0]);
  }
}

static void move_poison(Frame &frame, const ir::Op &op) {
  std::vector<uint32_t> clean;
  const uint32_t *in[2] = {};
  bool any = false;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const Tensor &operand = frame.in(op, i);
    any = any || operand.poison;
    clean.resize(frame.count(op, i));
    in[i] = operand.poison ? operand.poison->data() : nullptr;
  }
  if (!any)
    return;
  for (size_t i = 0; i < op.operands.size(); ++i)
    if (in[i] == nullptr)
      in[i] = clean.data();
  std::shared_ptr<Poison> moved[2];
  uint32_t *out[2] = {};
  for (size_t i = 0; i < op.results.size(); ++i) {
    moved[i] = std::make_shared<Poison>(static_cast<size_t>(frame.out_type(op, i).count()));
    out[i] = moved[i]->data();
  }
  move(frame, op, in, out);
  for (size_t i = 0; i < op.results.size(); ++i)
    frame.values[op.results[i]].poison = moved[i];
}

void run_shape(Frame &frame, const ir::Op &op) {
  if (op.opcode == Opcode::Reshape || op.opcode == Opcode::ExpandDims) {
    frame.values[op.result()] = frame.in(op, 0);
    return;
  }
  with_width(frame.in_type(op, 0), [&](auto zero) {
    using T = decltype(zero);
    const T *in[2] = {};
    T *out[2] = {};
    for (size_t i = 0; i < op.results.size(); ++i)
      out[i] = frame.out(op, i).as<T>();
    for (size_t i = 0; i < op.operands.size(); ++i)
      in[i] = frame.in(op, i).as<T>();
    move(frame, op, in, out);
  });
  move_poison(frame, op);
}

template <class T> static void fill(Tensor &out, size_t count, uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  std::fill_n(out.as<T>(), count, value);
}

void run_source(Frame &frame, const ir::Op &op) {
  Tensor &out = frame.out(op);
  const ir::Type &type = frame.out_type(op);
  const auto n = static_cast<size_t>(type.count());
  switch (op.opcode) {
  case Opcode::Constant: {
    uint64_t bits = static_cast<uint64_t>(op.integer("bits"));
    if (ir::is_float(type.element) && type.element != ir::Element::F64)
      bits = std::bit_cast<uint32_t>(float_of(type.element, bits));
    with_width(type, [&](auto zero) { fill<decltype(zero)>(out, n, bits); });
    return;
  }
  case Opcode::Arange:
    for (size_t i = 0; i < n; ++i)
      out.as<int32_t>()[i] = static_cast<int32_t>(op.integer("start") + static_cast<int64_t>(i));
    return;
  default: {
    const auto axis = static_cast<size_t>(op.integer("axis"));
    *out.as<uint32_t>() = op.opcode == Opcode::ProgramId ? frame.program[axis] : frame.launch.grid[axis];
  }
  }
}

} // namespace nereid::interpreter
