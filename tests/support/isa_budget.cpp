#include "tests/support/isa_budget.h"

#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "tests/support/isa_listing.h"

namespace nereid::test {

namespace {

using Predicate = std::function<bool(const IsaInstruction &)>;

Predicate opcode_like(const char *expression) {
  return [pattern = std::regex(expression)](const IsaInstruction &instruction) {
    return std::regex_search(instruction.opcode, pattern);
  };
}

const std::map<std::string, Predicate> &predicates() {
  static const std::map<std::string, Predicate> table = {
      {"instructions", [](const IsaInstruction &) { return true; }},
      {"valu", opcode_like("^v_(?!s?mfmac?_)")},
      {"mfma", opcode_like("^v_s?mfmac?_")},
      {"moves", opcode_like("^v_(mov_|accvgpr_|pk_mov_)")},
      {"salu",
       opcode_like("^s_(?!waitcnt|nop|barrier|branch|cbranch|endpgm|load|buffer_load|setprio|sleep)")},
      {"loads", opcode_like("^(buffer|global|flat)_load")},
      {"stores", opcode_like("^(buffer|global|flat)_store")},
      {"lds_reads", opcode_like("^ds_read")},
      {"lds_writes", opcode_like("^ds_write")},
      {"barriers", opcode_like("^s_barrier")},
      {"vmcnt(0)",
       [](const IsaInstruction &instruction) {
         return instruction.opcode == "s_waitcnt" &&
                instruction.operands.find("vmcnt(0)") != std::string::npos;
       }},
  };
  return table;
}

const std::map<std::string, unsigned Resources::*> &resource_figures() {
  static const std::map<std::string, unsigned Resources::*> table = {
      {"vgpr", &Resources::vgpr}, {"agpr", &Resources::agpr},       {"sgpr", &Resources::sgpr},
      {"lds", &Resources::lds},   {"scratch", &Resources::scratch}, {"spills", &Resources::spills}};
  return table;
}

struct Promise {
  bool of_loop = false;
  std::string figure, relation;
  double number = 0;
};

std::optional<Promise> read(const std::string &text) {
  static const std::regex form(R"(^(loop )?(/.+/|\S+) (<=|=|>=) ([0-9.]+)$)");
  std::smatch parts;
  if (!std::regex_match(text, parts, form))
    return std::nullopt;
  return Promise{parts[1].matched, parts[2], parts[3], std::stod(parts[4])};
}

std::optional<double> measure(const Promise &contract, const std::vector<IsaInstruction> &code,
                              const Resources &resources) {
  if (const auto found = resource_figures().find(contract.figure); found != resource_figures().end())
    return resources.*found->second;
  double sum = 0;
  if (contract.figure == "bytes") {
    for (const IsaInstruction &instruction : code)
      sum += static_cast<double>(instruction.bytes);
    return sum;
  }
  Predicate counts;
  if (contract.figure.front() == '/') {
    const std::regex pattern(contract.figure.substr(1, contract.figure.size() - 2));
    counts = [pattern](const IsaInstruction &instruction) {
      return std::regex_search(instruction.opcode + " " + instruction.operands, pattern);
    };
  } else if (const auto found = predicates().find(contract.figure); found != predicates().end()) {
    counts = found->second;
  } else {
    return std::nullopt;
  }
  for (const IsaInstruction &instruction : code)
    sum += counts(instruction) ? 1 : 0;
  return sum;
}

bool holds(const Promise &contract, double found) {
  return contract.relation == "<="   ? found <= contract.number
         : contract.relation == ">=" ? found >= contract.number
                                     : found == contract.number;
}

} // namespace

std::vector<std::string> broken_promises(const std::string &annotated_isa, const Resources &resources,
                                         const std::vector<std::string> &contracts) {
  const IsaListing listing(annotated_isa);
  std::vector<std::string> broken;
  for (const std::string &text : contracts) {
    const std::optional<Promise> contract = read(text);
    if (!contract) {
      broken.push_back(text + ": not of the form [loop] FIGURE <=|=|>= NUMBER");
      continue;
    }
    if (contract->of_loop && !listing.hot_loop()) {
      broken.push_back(text + ": no loop has matrix instructions");
      continue;
    }
    const std::optional<double> found =
        measure(*contract, contract->of_loop ? *listing.hot_loop() : listing.all(), resources);
    if (!found)
      broken.push_back(text + ": there is no such figure");
    else if (!holds(*contract, *found))
      broken.push_back(fmt::format("{}: it is {}", text, *found));
  }
  return broken;
}

std::vector<std::string> broken_promises(const CompiledKernel &kernel,
                                         const std::vector<std::string> &contracts) {
  const Result<std::string> isa = kernel.annotated_isa();
  if (!isa)
    return {isa.error().text()};
  return broken_promises(*isa, kernel.resources(), contracts);
}

} // namespace nereid::test
