#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "dsl/handle.h"

/// Makes a struct a parameter of kernels: it lists all of its fields, which are parameters themselves.
///
///     struct Affine {
///       Float scale;
///       Ptr<const f32> bias;
///       NEREID_PARAMETERS(scale, bias)
///     };
///
/// A launch gives it a struct of the host that lists its fields likewise, or a std::tuple: field by field
/// what the parameter's fields take.
#define NEREID_PARAMETERS(...)                                                                               \
  template <class NereidStruct> static auto nereid_parameters(const NereidStruct &nereid_struct) {           \
    /* A structured binding has as many names as there are fields, or it does not compile. */                \
    const auto &[__VA_ARGS__] = nereid_struct;                                                               \
    return std::tie(__VA_ARGS__);                                                                            \
  }

namespace nereid::detail {

struct ParameterType {
  ir::Type type;
  bool read_only = false;
};

/// The elements of which a launch passes a scalar: all but those of 8 bits and the integers of 16.
template <class T>
concept ScalarParameter = std::same_as<T, i32> || std::same_as<T, i64> || std::same_as<T, u32> ||
                          std::same_as<T, u64> || RealElement<T> || std::same_as<T, i1>;

/// A struct that lists its fields with NEREID_PARAMETERS.
template <class S>
concept ParameterStruct = requires(const S &s) { S::nereid_parameters(s); };

/// References to the fields of such a struct, as a tuple.
template <class S> using FieldsOf = decltype(S::nereid_parameters(std::declval<const S &>()));

/// How a parameter of a kernel looks in the IR: `count` arguments, their types, and the handle of their
/// values.
template <class P> struct Parameter {
  static_assert(never<P>,
                "the parameters of a kernel are a config and then Ptr<T>, Int, Long, Float, "
                "Tile<T> of u32, u64, f64, f16, bf16 or i1, or structs of these with NEREID_PARAMETERS");
};
template <class T> struct Parameter<Ptr<T>> {
  static constexpr size_t count = 1;
  static void add_types(std::vector<ParameterType> &types) {
    types.push_back({ir::Type::pointer_to(element_of<std::remove_const_t<T>>), std::is_const_v<T>});
  }
  static Ptr<T> make(const ir::ValueId *ids) { return Ptr<T>(FromId{*ids}); }
};
template <ScalarParameter T> struct Parameter<Tile<T>> {
  static constexpr size_t count = 1;
  static void add_types(std::vector<ParameterType> &types) {
    types.push_back({ir::Type::scalar(element_of<T>), false});
  }
  static Tile<T> make(const ir::ValueId *ids) { return Tile<T>(FromId{*ids}); }
};

template <class S, class Fields> struct StructParameter;
template <class S, class... F> struct StructParameter<S, std::tuple<const F &...>> {
  static constexpr size_t count = (size_t{0} + ... + Parameter<F>::count);
  static void add_types(std::vector<ParameterType> &types) { (Parameter<F>::add_types(types), ...); }
  static S make(const ir::ValueId *ids) {
    return S{Parameter<F>::make(std::exchange(ids, ids + Parameter<F>::count))...}; // in order: braces
  }
};
template <ParameterStruct S> struct Parameter<S> : StructParameter<S, FieldsOf<S>> {};

} // namespace nereid::detail
