// Reductions and scans with a combining function, and butterflies. Neighbours are combined first, then pairs
// of neighbours, as far as the power of two in the size goes; the blocks of an odd factor follow from first
// to last.
#include <algorithm>
#include <cstring>

#include "dsl/interpreter/machine.h"
#include "dsl/interpreter/operations.h"
#include "dsl/interpreter/strides.h"

namespace nereid::interpreter {
namespace {

/// One element of each tile, with its poison.
struct Scalar {
  uint64_t bits = 0; ///< as the tile stores it
  uint32_t poison = 0;
};
using Part = std::vector<Scalar>;

Scalar load(const Tensor &tensor, unsigned bytes, size_t i) {
  Scalar scalar;
  std::memcpy(&scalar.bits, tensor.data.get() + i * bytes, bytes);
  scalar.poison = tensor.poison ? (*tensor.poison)[i] : 0;
  return scalar;
}

/// The combining function of one operation.
class Combine {
public:
  using Run = std::function<Status(const ir::Block &)>;
  Combine(Frame &frame, const ir::Op &op, Run run) : frame_(frame), op_(op), run_(std::move(run)) {}

  /// a becomes a and b combined, or into another one.
  Status operator()(const Part &a, const Part &b, Part &to) {
    const ir::Block &block = op_.blocks.front();
    for (size_t i = 0; i < a.size(); ++i) {
      place(block.arguments[i], a[i]);
      place(block.arguments[a.size() + i], b[i]);
    }
    NEREID_CHECK(run_(block));
    Part result;
    for (size_t i = 0; i < a.size(); ++i)
      result.push_back(load(frame_.in(block.ops.back(), i), storage_size(frame_.in_type(op_, i)), 0));
    to = std::move(result);
    return {};
  }

private:
  void place(ir::ValueId value, const Scalar &scalar) {
    const unsigned bytes = storage_size(frame_.type(value));
    Tensor &tensor = frame_.values[value];
    tensor.reset(bytes);
    std::memcpy(tensor.data.get(), &scalar.bits, bytes);
    if (scalar.poison != 0)
      tensor.poison = std::make_shared<Poison>(1, scalar.poison);
  }

  Frame &frame_;
  const ir::Op &op_;
  Run run_;
};

/// The running values of all elements in place, and their total.
Result<Part> fold(std::vector<Part> &elements, bool is_scan, Combine &combine) {
  const size_t size = elements.size(), block = size & -size;
  std::vector<Part> totals = elements;
  for (size_t step = 1; step < block; step *= 2) {
    for (size_t i = 0; is_scan && i < size; ++i)
      if ((i & step) != 0)
        NEREID_CHECK(combine(totals[i / (2 * step) * 2], elements[i], elements[i]));
    for (size_t pair = 0; pair < totals.size() / 2; ++pair)
      NEREID_CHECK(combine(totals[2 * pair], totals[2 * pair + 1], totals[pair]));
    totals.resize(totals.size() / 2);
  }
  Part before = totals[0];
  for (size_t b = 1; b < totals.size(); ++b) {
    for (size_t i = b * block; is_scan && i < (b + 1) * block; ++i)
      NEREID_CHECK(combine(before, elements[i], elements[i]));
    NEREID_CHECK(combine(before, totals[b], before));
  }
  return before;
}

} // namespace

Status Machine::run_fold(const ir::Op &op) {
  const bool is_scan = op.opcode == ir::Opcode::Scan;
  const AxisView view = along(frame_.in_type(op, 0).shape, static_cast<size_t>(op.integer("axis")));
  Combine combine(frame_, op, [this](const ir::Block &block) { return run_block(block); });
  std::vector<Tensor> inputs; // results may take the place of operands of the same tensor
  for (size_t f = 0; f < op.operands.size(); ++f)
    inputs.push_back(frame_.in(op, f));
  for (size_t f = 0; f < op.results.size(); ++f)
    frame_.out(op, f);
  std::vector<std::shared_ptr<Poison>> poisons(op.results.size()); // null: none yet
  const auto put = [&](size_t i, const Part &part) {
    for (size_t f = 0; f < part.size(); ++f) {
      const ir::Type &type = frame_.out_type(op, f);
      const unsigned bytes = storage_size(type);
      std::memcpy(frame_.values[op.results[f]].data.get() + i * bytes, &part[f].bits, bytes);
      if (part[f].poison == 0)
        continue;
      if (!poisons[f])
        poisons[f] = std::make_shared<Poison>(static_cast<size_t>(type.count()));
      (*poisons[f])[i] = part[f].poison;
    }
  };
  std::vector<Part> elements(view.size);
  for (size_t o = 0; o < view.outer; ++o)
    for (size_t i = 0; i < view.inner; ++i) {
      const auto at = [&](size_t k) { return (o * view.size + k) * view.inner + i; };
      for (size_t k = 0; k < view.size; ++k) {
        elements[k].clear();
        for (size_t f = 0; f < inputs.size(); ++f)
          elements[k].push_back(load(inputs[f], storage_size(frame_.in_type(op, f)), at(k)));
      }
      NEREID_TRY(const Part total, fold(elements, is_scan, combine));
      if (!is_scan)
        put(o * view.inner + i, total);
      for (size_t k = 0; is_scan && k < view.size; ++k)
        put(at(k), elements[k]);
    }
  for (size_t f = 0; f < poisons.size(); ++f)
    frame_.values[op.results[f]].poison = poisons[f];
  return {};
}

void run_butterfly(Frame &frame, const ir::Op &op) {
  const Tensor in = frame.in(op, 0);
  const AxisView view = along(frame.in_type(op, 0).shape, static_cast<size_t>(op.integer("axis")));
  const auto distance = static_cast<size_t>(op.integer("distance"));
  const unsigned bytes = storage_size(frame.in_type(op, 0));
  Tensor &out = frame.out(op);
  std::shared_ptr<Poison> poison = in.poison ? std::make_shared<Poison>(in.poison->size()) : nullptr;
  for (size_t row = 0; row < view.outer * view.size; ++row) {
    const size_t to = row * view.inner,
                 from = (row / view.size * view.size + (row % view.size ^ distance)) * view.inner;
    std::memcpy(out.data.get() + to * bytes, in.data.get() + from * bytes, view.inner * bytes);
    if (poison)
      std::copy_n(in.poison->begin() + static_cast<std::ptrdiff_t>(from), view.inner,
                  poison->begin() + static_cast<std::ptrdiff_t>(to));
  }
  out.poison = std::move(poison);
}

} // namespace nereid::interpreter
