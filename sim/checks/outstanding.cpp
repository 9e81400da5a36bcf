#include "sim/checks/outstanding.h"

#include <string_view>

#include <fmt/format.h>

namespace nereid::sim {

namespace {

struct NamePrefix {
  std::string_view prefix;
  Counting counting;
};

/// The first prefix that fits decides. Invalidating caches is not counted, writing them back is.
constexpr NamePrefix prefixes[] = {
    {"buffer_inv", Counting::Nothing}, {"buffer_", Counting::Vector},   {"tbuffer_", Counting::Vector},
    {"global_", Counting::Vector},     {"scratch_", Counting::Vector},  {"flat_", Counting::Flat},
    {"ds_nop", Counting::Nothing},     {"ds_", Counting::Lds},          {"s_load_", Counting::Scalar},
    {"s_store_", Counting::Scalar},    {"s_atomic_", Counting::Scalar}, {"s_buffer_", Counting::Scalar},
    {"s_scratch_", Counting::Scalar},  {"s_mem", Counting::Scalar},
};

} // namespace

Counting counting(const Instruction &instruction) {
  if (!instruction.operation)
    return Counting::Nothing;
  for (const NamePrefix &row : prefixes)
    if (instruction.operation->name.starts_with(row.prefix))
      return row.counting;
  return Counting::Nothing;
}

Ticket Outstanding::issue(Counting counting) {
  Ticket ticket{counting};
  switch (counting) {
  case Counting::Vector:
    ticket.vector = vector_.issue_ordered();
    break;
  case Counting::Lds:
    ticket.lds = lds_.issue_ordered();
    break;
  case Counting::Scalar:
    ticket.lds = lds_.issue_unordered();
    break;
  case Counting::Flat:
    ticket.vector = vector_.issue_unordered();
    ticket.lds = lds_.issue_unordered();
    break;
  case Counting::Nothing:
    break;
  }
  return ticket;
}

bool Outstanding::done(const Ticket &ticket) const {
  switch (ticket.counting) {
  case Counting::Vector:
    return vector_.ordered_done(ticket.vector);
  case Counting::Lds:
    return lds_.ordered_done(ticket.lds);
  case Counting::Scalar:
    return lds_.unordered_done(ticket.lds);
  case Counting::Flat:
    return vector_.unordered_done(ticket.vector) && lds_.unordered_done(ticket.lds);
  case Counting::Nothing:
    return true;
  }
  return true;
}

std::string Outstanding::needed(const Ticket &ticket) const {
  switch (ticket.counting) {
  case Counting::Vector:
    return fmt::format("vmcnt({})", vector_.covering(ticket.vector));
  case Counting::Lds:
    return fmt::format("lgkmcnt({})", lds_.covering(ticket.lds));
  case Counting::Scalar:
    return "lgkmcnt(0)";
  case Counting::Flat:
    return "vmcnt(0) lgkmcnt(0)";
  case Counting::Nothing:
    break;
  }
  return {};
}

} // namespace nereid::sim
