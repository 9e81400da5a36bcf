// device_print as stores to a buffer of the launch, and the buffer as lines.
#include "jit/compile/print_plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "dsl/ir/canonical.h"
#include "dsl/print_text.h"

namespace nereid::jit {

namespace {

using ir::Attributes;
using ir::Element;
using ir::Op;
using ir::Opcode;
using ir::Type;
using ir::ValueId;

constexpr size_t alignment = 16;
constexpr size_t header_bytes = 16; ///< the site's number from 1 and the program, i32 each

size_t aligned(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

PrintPlan::Site site_of(const ir::Function &function, const Op &print) {
  PrintPlan::Site site{print.string("message"), {}, header_bytes};
  for (const ValueId value : print.operands) {
    const Type &type = function.type(value);
    site.values.push_back({type, site.bytes});
    site.bytes += aligned(static_cast<size_t>(type.count()) * ir::byte_size(type.element));
  }
  return site;
}

/// The operations of one print.
class PrintStores {
public:
  PrintStores(ir::Function &function, ValueId buffer, uint32_t location, std::vector<Op> &ops)
      : function_(function), buffer_(buffer), location_(location), ops_(ops) {}

  void store(const PrintPlan::Site &site, size_t number, const std::vector<ValueId> &values) {
    const ValueId size = constant(Element::I64, static_cast<int64_t>(site.bytes));
    const Type i64 = Type::scalar(Element::I64);
    const ValueId taken = emit(Opcode::AtomicAdd, {pointer(buffer_, Element::I64), size}, i64,
                               {{"order", std::string("relaxed")}, {"scope", std::string("device")}});
    const ValueId room =
        constant(Element::I64, static_cast<int64_t>(PrintPlan::buffer_bytes - PrintPlan::first_record));
    fits_ = emit(Opcode::Le, {emit(Opcode::Add, {taken, size}, i64), room}, Type::scalar(Element::I1));
    const ValueId records = plus(buffer_, PrintPlan::first_record);
    const ValueId record = emit(Opcode::Add, {records, taken}, i64);
    store_scalar(record, 0, constant(Element::I32, static_cast<int64_t>(number + 1)));
    for (int64_t axis = 0; axis < 3; ++axis)
      store_scalar(record, 4 * (static_cast<size_t>(axis) + 1),
                   emit(Opcode::ProgramId, {}, Type::scalar(Element::I32), {{"axis", axis}}));
    for (size_t i = 0; i < values.size(); ++i)
      store_tile(plus(record, site.values[i].offset), values[i]);
  }

private:
  ValueId emit(Opcode opcode, std::vector<ValueId> operands, Type result, Attributes attributes = {}) {
    Op op;
    op.opcode = opcode;
    op.operands = std::move(operands);
    op.attributes = std::move(attributes);
    op.location = location_;
    op.results.push_back(function_.new_value(std::move(result)));
    ops_.push_back(std::move(op));
    return ops_.back().result();
  }
  void emit_store(ValueId pointer, ValueId value, ValueId mask) {
    Op op;
    op.opcode = Opcode::Store;
    op.operands = {pointer, value, mask};
    op.location = location_;
    ops_.push_back(std::move(op));
  }
  ValueId constant(Element element, int64_t value) {
    return emit(Opcode::Constant, {}, Type::scalar(element), {{"bits", value}});
  }
  ValueId plus(ValueId address, size_t bytes) {
    return emit(Opcode::Add, {address, constant(Element::I64, static_cast<int64_t>(bytes))},
                Type::scalar(Element::I64));
  }
  ValueId pointer(ValueId address, Element element) {
    return emit(Opcode::IntToPtr, {address}, Type::pointer_to(element));
  }
  void store_scalar(ValueId record, size_t offset, ValueId value) {
    emit_store(pointer(plus(record, offset), Element::I32), value, fits_);
  }
  void store_tile(ValueId address, ValueId value) {
    const Type type = function_.type(value);
    const ValueId first = pointer(address, type.element);
    if (type.rank() == 0)
      return emit_store(first, value, fits_);
    const ValueId flat =
        emit(Opcode::Arange, {}, Type::tile(Element::I32, {type.count()}), {{"start", int64_t{0}}});
    const ValueId offsets = emit(Opcode::Reshape, {flat}, Type::tile(Element::I32, type.shape));
    const Type pointers = Type::pointer_to(type.element, type.shape);
    const ValueId base = emit(Opcode::Broadcast, {first}, pointers);
    emit_store(emit(Opcode::PtrAdd, {base, offsets}, pointers), value,
               emit(Opcode::Broadcast, {fits_}, Type::tile(Element::I1, type.shape)));
  }

  ir::Function &function_;
  ValueId buffer_;
  uint32_t location_;
  std::vector<Op> &ops_;
  ValueId fits_ = 0;
};

std::vector<const Op *> prints_of(const ir::Function &function) {
  std::vector<const Op *> prints;
  ir::for_each_op(function, [&](const Op &op, unsigned) {
    if (op.opcode == Opcode::DevicePrint)
      prints.push_back(&op);
  });
  return prints;
}

void lower_block(ir::Function &function, ValueId buffer, ir::Block &block, PrintPlan &plan) {
  std::vector<Op> ops;
  for (Op &op : block.ops) {
    for (ir::Block &inner : op.blocks)
      lower_block(function, buffer, inner, plan);
    if (op.opcode != Opcode::DevicePrint) {
      ops.push_back(std::move(op));
      continue;
    }
    plan.sites.push_back(site_of(function, op));
    PrintStores(function, buffer, op.location, ops)
        .store(plan.sites.back(), plan.sites.size() - 1, op.operands);
  }
  block.ops = std::move(ops);
}

template <class T> T read(std::span<const std::byte> buffer, size_t offset) {
  T value;
  std::memcpy(&value, buffer.data() + offset, sizeof value);
  return value;
}

/// One record as a line, with the program that wrote it.
struct Line {
  std::array<uint32_t, 3> program;
  std::string text;
};

Line line_of(const PrintPlan::Site &site, std::span<const std::byte> record) {
  Line line{{read<uint32_t>(record, 4), read<uint32_t>(record, 8), read<uint32_t>(record, 12)}, {}};
  std::vector<detail::PrintedValue> values;
  for (const PrintPlan::Value &value : site.values)
    values.push_back({value.type, [&](size_t i) {
                        const size_t bytes = ir::byte_size(value.type.element);
                        uint64_t bits = 0;
                        std::memcpy(&bits, record.data() + value.offset + i * bytes, bytes);
                        return bits;
                      }});
  line.text = detail::print_line(line.program, site.message, values);
  return line;
}

} // namespace

Result<std::shared_ptr<const PrintPlan>> lower_prints(ir::Function &function) {
  const std::vector<const Op *> prints = prints_of(function);
  for (const Op *print : prints)
    for (const ValueId value : print->operands)
      if (function.type(value).pointer)
        return user_error("device_print of pointers is for the interpreter alone",
                          "Print the offsets, or run the kernel in the interpreter (NEREID_INTERPRET=1)",
                          function.location(*print));
  if (prints.empty())
    return std::shared_ptr<const PrintPlan>();
  auto plan = std::make_shared<PrintPlan>();
  const ValueId buffer = function.new_value(Type::scalar(Element::I64));
  lower_block(function, buffer, function.body, *plan);
  function.argument_names.resize(function.arguments.size());
  function.arguments.push_back({buffer});
  function.argument_names.emplace_back(PrintPlan::argument_name);
  function = ir::canonicalize(function);
  return std::shared_ptr<const PrintPlan>(std::move(plan));
}

std::vector<std::string> printed_lines(const PrintPlan &plan, std::span<const std::byte> buffer) {
  const auto taken = read<uint64_t>(buffer, 0);
  const std::span<const std::byte> records = buffer.subspan(PrintPlan::first_record);
  std::vector<Line> lines;
  for (size_t at = 0; at + header_bytes <= std::min<uint64_t>(taken, records.size());) {
    const auto number = read<uint32_t>(records, at);
    if (number == 0 || number > plan.sites.size()) // the first that did not fit
      break;
    const PrintPlan::Site &site = plan.sites[number - 1];
    lines.push_back(line_of(site, records.subspan(at, site.bytes)));
    at += site.bytes;
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line &a, const Line &b) {
    return std::lexicographical_compare(a.program.rbegin(), a.program.rend(), b.program.rbegin(),
                                        b.program.rend());
  });
  std::vector<std::string> result;
  for (Line &line : lines)
    result.push_back(std::move(line.text));
  if (taken > records.size())
    result.push_back(
        fmt::format("device_print: a launch prints at most {} bytes of values, this one wanted {}; "
                    "the rest is left out",
                    records.size(), taken));
  return result;
}

} // namespace nereid::jit
