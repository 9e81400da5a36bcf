#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "dsl/parameter.h"
#include "jit/device/argument_value.h"
#include "jit/device/buffer.h"

namespace nereid::jit {

/// What a type of the host says of device memory: the element, and the argument of a launch.
template <class A> struct DeviceMemoryOf {};
template <class T> struct DeviceMemoryOf<Buffer<T>> {
  using Element = T;
  static ArgumentValue value(const Buffer<T> &b) {
    return {ArgumentValue::Kind::Pointer, b.address(), b.device(), b.bytes()};
  }
};
template <class T> struct DeviceMemoryOf<DevicePointer<T>> {
  using Element = T;
  static ArgumentValue value(const DevicePointer<T> &p) { return {ArgumentValue::Kind::Pointer, p.address}; }
};

/// Whether a kernel's Ptr<T> takes host memory of elements Given: T itself, plain bytes, or for the floats
/// of 16 and 8 bits and truth values, which have no type of their own on most hosts, the integers that hold
/// their bits.
template <class Given, class T>
concept MemoryFor = std::same_as<Given, T> || std::same_as<Given, std::byte> ||
                    (std::same_as<Given, uint16_t> && (std::same_as<T, bf16> || std::same_as<T, f16>)) ||
                    (std::same_as<Given, uint8_t> && (std::same_as<T, i1> || SmallFloatElement<T>));

/// What a parameter of a kernel takes from the host, and its bits.
template <class P> struct ParameterArgument;

template <class T> struct ParameterArgument<Ptr<T>> {
  template <class A> static ArgumentValue from(const A &argument) {
    static_assert(
        requires { typename DeviceMemoryOf<A>::Element; },
        "this parameter is a Ptr<T>: its argument is a Buffer<T> or a DevicePointer<T>");
    using Given = std::remove_const_t<typename DeviceMemoryOf<A>::Element>;
    static_assert(MemoryFor<Given, std::remove_const_t<T>>,
                  "the argument's memory holds elements of another type than the parameter Ptr<T> points to");
    return DeviceMemoryOf<A>::value(argument);
  }
};
template <> struct ParameterArgument<Int> {
  template <class A> static ArgumentValue from(const A &argument) {
    static_assert(std::signed_integral<A> && sizeof(A) <= 4,
                  "this parameter is an Int: its argument is an int32_t; cast what is wider or unsigned");
    return {ArgumentValue::Kind::I32, static_cast<uint32_t>(argument)};
  }
};
template <> struct ParameterArgument<Long> {
  template <class A> static ArgumentValue from(const A &argument) {
    static_assert(std::signed_integral<A>, "this parameter is a Long: its argument is an int64_t");
    return {ArgumentValue::Kind::I64, static_cast<uint64_t>(int64_t{argument})};
  }
};
template <> struct ParameterArgument<Float> {
  template <class A> static ArgumentValue from(const A &argument) {
    static_assert(std::same_as<A, float>, "this parameter is a Float: its argument is a float");
    return {ArgumentValue::Kind::F32, std::bit_cast<uint32_t>(argument)};
  }
};

template <> struct ParameterArgument<Tile<f64>> {
  template <class A> static ArgumentValue from(const A &argument) {
    static_assert(std::same_as<A, double>, "this parameter is a Tile<f64>: its argument is a double");
    return {ArgumentValue::Kind::F64, std::bit_cast<uint64_t>(argument)};
  }
};
template <> struct ParameterArgument<Tile<u32>> {
  template <class A> static ArgumentValue from(const A &argument) {
    static_assert(std::unsigned_integral<A> && sizeof(A) <= 4 && !std::same_as<A, bool>,
                  "this parameter is a Tile<u32>: its argument is a uint32_t; cast what is wider or signed");
    return {ArgumentValue::Kind::U32, argument};
  }
};
template <> struct ParameterArgument<Tile<u64>> {
  template <class A> static ArgumentValue from(const A &argument) {
    static_assert(std::unsigned_integral<A> && !std::same_as<A, bool>,
                  "this parameter is a Tile<u64>: its argument is a uint64_t");
    return {ArgumentValue::Kind::U64, argument};
  }
};
template <> struct ParameterArgument<Tile<f16>> {
  template <class A> static ArgumentValue from(const A &argument) {
    static_assert(std::same_as<A, f16>, "this parameter is a Tile<f16>: its argument is an f16");
    return {ArgumentValue::Kind::F16, argument.bits};
  }
};
template <> struct ParameterArgument<Tile<bf16>> {
  template <class A> static ArgumentValue from(const A &argument) {
    static_assert(std::same_as<A, bf16>, "this parameter is a Tile<bf16>: its argument is a bf16");
    return {ArgumentValue::Kind::BF16, argument.bits};
  }
};
template <> struct ParameterArgument<Tile<i1>> {
  template <class A> static ArgumentValue from(const A &argument) {
    static_assert(std::same_as<A, bool>, "this parameter is a Tile<i1>: its argument is a bool");
    return {ArgumentValue::Kind::I1, argument};
  }
};

/// A struct of the host, or a tuple, that a struct of parameters takes: its fields in order.
template <class A>
concept HostStruct = detail::ParameterStruct<A> || requires { std::tuple_size<A>::value; };
template <HostStruct A> auto fields_of(const A &argument) {
  if constexpr (detail::ParameterStruct<A>)
    return A::nereid_parameters(argument);
  else
    return std::apply([](const auto &...fields) { return std::tie(fields...); }, argument);
}

/// See no_specialize. Numbers and addresses by value, buffers by reference.
template <class A> struct Unspecialized {
  std::conditional_t<std::is_trivially_copyable_v<A>, A, const A &> argument;
};

/// The bits that a parameter P takes of an argument, one value after the other. Does not compile where it
/// takes none of that type.
template <class P, class A> void add_arguments(ArgumentValue *&next, const A &argument);
template <class P, class A> void add_arguments(ArgumentValue *&next, const Unspecialized<A> &unspecialized) {
  ArgumentValue *value = next;
  add_arguments<P>(next, unspecialized.argument);
  for (; value != next; ++value)
    value->is_specialized = false;
}
template <class... P, class... A>
void add_fields(ArgumentValue *&next, std::type_identity<std::tuple<const P &...>>,
                const std::tuple<const A &...> &fields) {
  static_assert(sizeof...(P) == sizeof...(A),
                "this parameter is a struct: its argument has another number of fields");
  if constexpr (sizeof...(P) == sizeof...(A))
    std::apply([&](const A &...field) { (add_arguments<P>(next, field), ...); }, fields);
}
template <class P, class A> void add_arguments(ArgumentValue *&next, const A &argument) {
  if constexpr (detail::ParameterStruct<P>) {
    static_assert(HostStruct<A>,
                  "this parameter is a struct: its argument is a struct with NEREID_PARAMETERS or a "
                  "std::tuple, with as many fields");
    if constexpr (HostStruct<A>)
      add_fields(next, std::type_identity<detail::FieldsOf<P>>{}, fields_of(argument));
  } else {
    *next++ = ParameterArgument<P>::from(argument);
  }
}

/// The arguments of a launch for the parameters P.
template <class... P, class... A> auto to_arguments(const A &...arguments) {
  std::array<ArgumentValue, (size_t{0} + ... + detail::Parameter<std::decay_t<P>>::count)> values;
  ArgumentValue *next = values.data();
  (add_arguments<std::decay_t<P>>(next, arguments), ...);
  return values;
}

} // namespace nereid::jit

namespace nereid {

/// An argument of a launch for which no variant of the kernel is compiled, whatever its value (docs/host.md):
/// `kernel(stream, grid, config, x, no_specialize(n))`.
template <class A> jit::Unspecialized<A> no_specialize(const A &argument) { return {argument}; }

} // namespace nereid
