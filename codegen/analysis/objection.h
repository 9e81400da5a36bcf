#pragma once

#include <string>
#include <utility>
#include <variant>

#include "dsl/ir/function.h"

namespace nereid::codegen {

/// What speaks against a way to run a loop or to make an access: the operation in the way, and why, as the
/// end of a sentence that names the loop or the access.
struct Objection {
  const ir::Op *op;
  std::string reason;
  std::string remedy = {}; ///< what the author could do; may be empty
};

/// A way to do something, or what speaks against it.
template <class T> class Decision {
public:
  Decision(T way) : state_(std::in_place_index<0>, std::move(way)) {}
  Decision(Objection objection) : state_(std::in_place_index<1>, std::move(objection)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T &operator*() { return std::get<0>(state_); }
  const T &operator*() const { return std::get<0>(state_); }
  T *operator->() { return &std::get<0>(state_); }
  const T *operator->() const { return &std::get<0>(state_); }
  const Objection &objection() const { return std::get<1>(state_); }

private:
  std::variant<T, Objection> state_;
};

} // namespace nereid::codegen
