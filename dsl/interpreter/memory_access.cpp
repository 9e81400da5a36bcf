// Loads, stores and atomics with their checks.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "dsl/interpreter/argument_text.h"
#include "dsl/interpreter/numbers.h"
#include "dsl/interpreter/operations.h"
#include "dsl/interpreter/poison.h"
#include "dsl/interpreter/scalar.h"

namespace nereid::interpreter {
namespace {

using ir::Element;
using ir::Opcode;

/// An element in memory of type M as the float or integer that stores it in a tensor, and back.
template <class T, class M> T from_memory(Element element, M bits) {
  if constexpr (std::is_floating_point_v<T>)
    return real_of<T>(element, bits);
  else
    return static_cast<T>(element == Element::I1 ? bits != 0 : bits);
}
template <class M, class T> M to_memory(Element element, T value) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<M>(bits_of(element, value));
  else
    return static_cast<M>(value);
}

/// Calls f with zeros of the storage type and of the unsigned integer that memory holds.
template <class F> auto with_memory(Element element, F f) {
  return with_storage(ir::Type::scalar(element), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, double>) {
      return f(zero, uint64_t{});
    } else if constexpr (std::is_same_v<T, float>) {
      const unsigned bytes = ir::byte_size(element);
      return bytes == 4 ? f(zero, uint32_t{}) : bytes == 2 ? f(zero, uint16_t{}) : f(zero, uint8_t{});
    } else
      return f(zero, std::make_unsigned_t<T>{});
  });
}

/// Where an access outside of every allocation went, seen from the nearest; empty when that is far away.
std::string distance_text(const HostAllocation *nearest, uint64_t address) {
  if (nearest == nullptr)
    return "; there is none";
  const uint64_t end = nearest->address + nearest->size;
  const uint64_t distance = address < nearest->address ? nearest->address - address
                            : address >= end           ? address - end
                                                       : 0;
  if (distance > largest_miss)
    return "";
  const std::string location = address < nearest->address ? fmt::format("{} bytes before the start", distance)
                               : address >= end           ? fmt::format("{} bytes past the end", distance)
                                                          : "across the end";
  return fmt::format(": {} of the nearest, allocation{} at {:#x} of {} bytes", location,
                     nearest->name.empty() ? "" : " '" + nearest->name + "'", nearest->address,
                     nearest->size);
}

Error out_of_bounds(const Frame &frame, const ir::Op &op, size_t index, uint64_t address, unsigned size) {
  const std::string element = Frame::element(frame.in_type(op, 0), index);
  const HostAllocation *nearest = frame.launch.memory.nearest(address);
  return frame.error(op,
                     fmt::format("{}{}{} bytes at {:#x} are in no allocation{}{}", element,
                                 element.empty() ? "" : ": ", size, address, distance_text(nearest, address),
                                 argument_near(address, frame.launch.function, frame.launch.arguments)),
                     nearest == nullptr ? "Register the buffers of the kernel"
                                        : "Check the offsets, or mask the elements that do not exist");
}

/// The host's bytes of one access, or null: outside of every allocation or not aligned.
std::byte *locate(Frame &frame, uint64_t address, unsigned size) {
  const HostAllocation *&last = frame.last_allocation;
  if (last == nullptr || !last->holds(address, size)) {
    const HostAllocation *found = frame.launch.memory.find(address);
    if (found == nullptr || !found->holds(address, size))
      return nullptr;
    last = found;
    frame.last_undefined = found->backing ? found->backing->undefined_bits() : nullptr;
  }
  return (address & (size - 1)) == 0 ? last->data + (address - last->address) : nullptr;
}

/// The undefined bits of a located access, or null: all is written.
std::byte *undefined_bits(const Frame &frame, const std::byte *bytes) {
  return frame.last_undefined ? frame.last_undefined + (bytes - frame.last_allocation->data) : nullptr;
}

bool has_undefined_bits(const Frame &frame, const std::byte *bytes, size_t size) {
  const std::byte *bits = undefined_bits(frame, bytes);
  return bits != nullptr && std::any_of(bits, bits + size, [](std::byte b) { return b != std::byte{0}; });
}

/// What the access stores is written, or a copy of what is not.
void define(Frame &frame, const std::byte *bytes, size_t size, bool is_defined) {
  const std::shared_ptr<HostBacking> &backing = frame.last_allocation->backing;
  if (!is_defined && backing)
    frame.last_undefined = backing->undefined_bits_to_set();
  if (std::byte *bits = undefined_bits(frame, bytes))
    std::fill_n(bits, size, is_defined ? std::byte{0} : std::byte{0xFF});
}

Error access_error(Frame &frame, const ir::Op &op, size_t index, uint64_t address, unsigned size) {
  const HostAllocation *found = frame.launch.memory.find(address);
  if (found == nullptr || !found->holds(address, size))
    return out_of_bounds(frame, op, index, address, size);
  const std::string element = Frame::element(frame.in_type(op, 0), index);
  return frame.error(op,
                     fmt::format("{}{}address {:#x} is no multiple of {} bytes{}", element,
                                 element.empty() ? "" : " ", address, size,
                                 argument_near(address, frame.launch.function, frame.launch.arguments)),
                     "Align the buffer and its offsets to the element");
}

/// The mask of a memory operation at that operand, or null.
const uint8_t *mask_of(const Frame &frame, const ir::Op &op, size_t operand) {
  return operand < op.operands.size() ? frame.in(op, operand).as<uint8_t>() : nullptr;
}

/// Poisons that the access would make observable.
Status check_operands(const Frame &frame, const ir::Op &op, size_t mask_operand) {
  const uint8_t *mask = mask_of(frame, op, mask_operand);
  if (mask != nullptr)
    NEREID_CHECK(observe(frame, op, mask_operand, "reaches a mask", Use::Value));
  NEREID_CHECK(observe(frame, op, 0, "reaches an address", Use::Address, mask));
  for (size_t i = 1; op.opcode != Opcode::Load && i < std::min(mask_operand, op.operands.size()); ++i)
    NEREID_CHECK(
        observe(frame, op, i, "reaches memory", op.opcode == Opcode::Store ? Use::Stored : Use::Value, mask));
  return {};
}

/// Calls access(index, bytes) for each element that the mask leaves.
template <class F> Status for_each_access(Frame &frame, const ir::Op &op, size_t mask_operand, F access) {
  NEREID_CHECK(check_operands(frame, op, mask_operand));
  const size_t n = frame.count(op);
  const unsigned size = ir::byte_size(frame.in_type(op, 0).element);
  const uint8_t *mask = mask_of(frame, op, mask_operand);
  const auto *addresses = frame.in(op, 0).as<uint64_t>();
  for (size_t i = 0; i < n; ++i) {
    if (mask != nullptr && mask[i] == 0)
      continue;
    std::byte *bytes = locate(frame, addresses[i], size);
    if (bytes == nullptr)
      return access_error(frame, op, i, addresses[i], size);
    access(i, bytes);
  }
  return {};
}

/// The old value with the new one, as the atomic combines them.
template <class T> T combined(Opcode opcode, T old, T operand, T desired) {
  switch (opcode) {
  case Opcode::AtomicAdd:
    if constexpr (std::is_floating_point_v<T>)
      return old + operand;
    else
      return wrapped<T>(widened(old) + widened(operand));
  case Opcode::AtomicMax:
    return maximum(old, operand);
  case Opcode::AtomicMin:
    return minimum(old, operand);
  case Opcode::AtomicExchange:
    return operand;
  case Opcode::AtomicAnd:
  case Opcode::AtomicOr:
  case Opcode::AtomicXor:
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(opcode == Opcode::AtomicAnd  ? old & operand
                            : opcode == Opcode::AtomicOr ? old | operand
                                                         : old ^ operand);
    else
      return old; // refused
  default:
    return old == operand ? desired : old;
  }
}

} // namespace

Status run_load(Frame &frame, const ir::Op &op) {
  const size_t n = frame.count(op);
  const Element element = frame.out_type(op).element;
  Tensor &out = frame.out(op);
  return with_memory(element, [&](auto zero, auto memory_zero) -> Status {
    using T = decltype(zero);
    using M = decltype(memory_zero);
    T *to = out.as<T>();
    if (op.operands.size() > 2)
      std::copy_n(frame.in(op, 2).as<T>(), n, to);
    else if (op.operands.size() > 1)
      std::fill_n(to, n, zero);
    std::shared_ptr<Poison> poison;
    if (op.operands.size() > 2 && frame.in(op, 2).poison)
      poison = std::make_shared<Poison>(*frame.in(op, 2).poison);
    const Status status = for_each_access(frame, op, 1, [&](size_t i, const std::byte *bytes) {
      M bits;
      std::memcpy(&bits, bytes, sizeof bits);
      to[i] = from_memory<T>(element, bits);
      const bool is_undefined = has_undefined_bits(frame, bytes, sizeof bits);
      if (is_undefined && !poison)
        poison = std::make_shared<Poison>(n);
      if (poison)
        (*poison)[i] =
            is_undefined ? undefined_poison(frame, op, i, frame.in(op, 0).template as<uint64_t>()[i]) : 0;
    });
    out.poison = std::move(poison);
    return status;
  });
}

Status run_store(Frame &frame, const ir::Op &op) {
  const Element element = frame.in_type(op, 1).element;
  return with_memory(element, [&](auto zero, auto memory_zero) -> Status {
    using T = decltype(zero);
    using M = decltype(memory_zero);
    const T *from = frame.in(op, 1).as<T>();
    const Poison *poison = frame.in(op, 1).poison.get();
    return for_each_access(frame, op, 2, [&](size_t i, std::byte *bytes) {
      const M bits = to_memory<M>(element, from[i]);
      std::memcpy(bytes, &bits, sizeof bits);
      define(frame, bytes, sizeof bits, poison == nullptr || !is_undefined((*poison)[i]));
    });
  });
}

Status run_atomic(Frame &frame, const ir::Op &op) {
  const Element element = frame.out_type(op).element;
  const size_t values = op.opcode == Opcode::AtomicCompareExchange ? 2 : 1;
  Tensor &out = frame.out(op);
  return with_memory(element, [&](auto zero, auto memory_zero) -> Status {
    using T = decltype(zero);
    using M = decltype(memory_zero);
    T *old = out.as<T>();
    std::fill_n(old, frame.count(op), zero);
    const T *operand = frame.in(op, 1).as<T>();
    const T *desired = frame.in(op, values).as<T>();
    std::shared_ptr<Poison> poison;
    std::optional<size_t> first_undefined;
    const Status status = for_each_access(frame, op, values + 1, [&](size_t i, std::byte *bytes) {
      if (has_undefined_bits(frame, bytes, sizeof(M))) {
        if (!poison)
          poison = std::make_shared<Poison>(frame.count(op));
        (*poison)[i] = undefined_poison(frame, op, i, frame.in(op, 0).template as<uint64_t>()[i]);
        first_undefined = first_undefined.value_or(i);
      }
      define(frame, bytes, sizeof(M), true);
      M bits;
      std::memcpy(&bits, bytes, sizeof bits);
      old[i] = from_memory<T>(element, bits);
      bits = to_memory<M>(element, combined(op.opcode, old[i], operand[i], desired[i]));
      std::memcpy(bytes, &bits, sizeof bits);
    });
    NEREID_CHECK(status);
    if (first_undefined && op.opcode != Opcode::AtomicExchange)
      return undefined_error(frame, op, (*poison)[*first_undefined], "is changed by an atomic");
    out.poison = std::move(poison);
    return {};
  });
}

} // namespace nereid::interpreter
