#include "sim/checks/outstanding.h"

#include <fmt/format.h>

namespace nereid::sim {

Ticket Outstanding::issue(WaitCounter counter) {
  Ticket ticket{counter};
  switch (counter) {
  case WaitCounter::Vector:
    ticket.vector = vector_.issue_ordered();
    break;
  case WaitCounter::Lds:
    ticket.lds = lds_.issue_ordered();
    break;
  case WaitCounter::Scalar:
    ticket.lds = lds_.issue_unordered();
    break;
  case WaitCounter::Flat:
    ticket.vector = vector_.issue_unordered();
    ticket.lds = lds_.issue_unordered();
    break;
  case WaitCounter::None:
    break;
  }
  return ticket;
}

bool Outstanding::done(const Ticket &ticket) const {
  switch (ticket.counter) {
  case WaitCounter::Vector:
    return vector_.ordered_done(ticket.vector);
  case WaitCounter::Lds:
    return lds_.ordered_done(ticket.lds);
  case WaitCounter::Scalar:
    return lds_.unordered_done(ticket.lds);
  case WaitCounter::Flat:
    return vector_.unordered_done(ticket.vector) && lds_.unordered_done(ticket.lds);
  case WaitCounter::None:
    return true;
  }
  return true;
}

std::string Outstanding::needed(const Ticket &ticket) const {
  switch (ticket.counter) {
  case WaitCounter::Vector:
    return fmt::format("vmcnt({})", vector_.covering(ticket.vector));
  case WaitCounter::Lds:
    return fmt::format("lgkmcnt({})", lds_.covering(ticket.lds));
  case WaitCounter::Scalar:
    return "lgkmcnt(0)";
  case WaitCounter::Flat:
    return "vmcnt(0) lgkmcnt(0)";
  case WaitCounter::None:
    break;
  }
  return {};
}

} // namespace nereid::sim
