#pragma once

#include <cmath>

#include <llvm/Support/JSON.h>

#include "sim/launch/launch_time.h"
#include "tools/instructions_json.h"

namespace nereid::tools {

/// A simulated time as the answers of the command have it, rounded to what is meant by its digits.
inline llvm::json::Object time_json(const sim::LaunchTime &time) {
  const auto rounded = [](double value, double digits) { return std::round(value * digits) / digits; };
  llvm::json::Object stalls;
  for (const auto &[reason, share] : time.stalls)
    stalls[reason] = rounded(share, 1e4);
  llvm::json::Object json{{"us", rounded(time.us, 1e3)},
                          {"cycles_per_workgroup", rounded(time.cycles_per_workgroup, 1)},
                          {"clock_ghz", rounded(time.clock_ghz, 1e3)},
                          {"limit", time.limit},
                          {"stalls", std::move(stalls)},
                          {"traffic", llvm::json::Object{{"l2", integer(time.l2_bytes)},
                                                         {"mall", integer(time.mall_bytes)},
                                                         {"hbm", integer(time.hbm_bytes)}}},
                          {"workgroups", integer(time.workgroups)},
                          {"executed_workgroups", integer(time.executed_workgroups)},
                          {"looks_uneven", time.looks_uneven}};
  if (std::string note = time.note(); !note.empty())
    json["note"] = std::move(note);
  return json;
}

} // namespace nereid::tools
