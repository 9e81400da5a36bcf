#pragma once

#include "base/result.h"

namespace nereid::jit {

/// While it lives, its thread builds a kernel and may hold locks of Nereid, LLVM, LLD or comgr. A process
/// that another thread forks meanwhile has them locked for ever.
class Building {
public:
  Building();
  ~Building();
  Building(const Building &) = delete;
  Building &operator=(const Building &) = delete;
};

/// Error (Environment): this process was forked while another thread was Building. Asked before the first
/// lock.
Status check_not_forked_while_building();

} // namespace nereid::jit
