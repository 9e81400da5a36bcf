#include "sim/state/checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/state/fault.h"

namespace nereid::sim {

namespace {

/// A kind of fault that can be named, and what looks for it; null: every run does.
struct NamedCheck {
  FaultKind kind;
  bool Checks::*check;

  std::string_view name() const { return fault_kind_name(kind); }
};
constexpr NamedCheck named_checks[] = {
    {FaultKind::OutOfBounds, nullptr},         {FaultKind::Undefined, &Checks::undefined},
    {FaultKind::RaceLds, &Checks::race_lds},   {FaultKind::RaceGlobal, &Checks::race_global},
    {FaultKind::Wait, &Checks::wait},          {FaultKind::Misaligned, nullptr},
    {FaultKind::Hazard, &Checks::hazard},      {FaultKind::Barrier, nullptr},
    {FaultKind::NanScale, &Checks::nan_scale}, {FaultKind::Budget, nullptr},
    {FaultKind::Unsupported, nullptr},
};

} // namespace

std::vector<std::string> Checks::kinds() const {
  std::vector<std::string> result;
  for (const NamedCheck &named : named_checks)
    if (!named.check || this->*named.check)
      result.emplace_back(named.name());
  return result;
}

bool Checks::enable(std::string_view kind) {
  for (const NamedCheck &named : named_checks)
    if (kind == named.name()) {
      if (named.check)
        this->*named.check = true;
      return true;
    }
  return false;
}

Result<Checks> Checks::parse(std::string_view text) {
  if (text == "all")
    return Checks::all();
  Checks checks;
  if (text == "none")
    return checks;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!checks.enable(word))
      return user_error(fmt::format("there is no check '{}'", word),
                        "\"all\", \"none\", or kinds of docs/simulator.md separated by commas");
    at = end + 1;
  }
  return checks;
}

} // namespace nereid::sim
