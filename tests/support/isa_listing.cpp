#include "tests/support/isa_listing.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace nereid::test {

namespace {

bool starts_with(const std::string &text, const char *start) { return text.rfind(start, 0) == 0; }

bool is_branch(const std::string &opcode) {
  return opcode == "s_branch" || starts_with(opcode, "s_cbranch_");
}

/// With preloaded arguments a kernel is entered 256 bytes behind its start, where firmware that does not know
/// of them loads them, goes on, and is followed by padding.
void drop_prologue(std::vector<IsaInstruction> &instructions) {
  if (instructions.empty())
    return;
  const auto entry = std::find_if(instructions.begin(), instructions.end(), [&](const IsaInstruction &i) {
    return i.address == instructions.front().address + 256;
  });
  const auto branch = std::find_if(instructions.begin(), entry,
                                   [](const IsaInstruction &i) { return i.opcode == "s_branch"; });
  const bool is_prologue =
      entry != instructions.end() && branch != entry &&
      std::all_of(instructions.begin(), branch,
                  [](const IsaInstruction &i) {
                    return starts_with(i.opcode, "s_load_dword") || i.opcode == "s_waitcnt";
                  }) &&
      std::all_of(branch + 1, entry, [](const IsaInstruction &i) { return i.opcode == "s_nop"; });
  if (is_prologue)
    instructions.erase(instructions.begin(), entry);
}

bool ends_program(const std::string &opcode) { return opcode == "s_endpgm" || opcode == "s_setpc_b64"; }

} // namespace

IsaListing::IsaListing(const std::string &annotated_isa) {
  std::istringstream lines(annotated_isa);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find("  ;"));
    std::istringstream words(line);
    std::string address;
    IsaInstruction instruction;
    if (!starts_with(line, "  ") || !(words >> address >> instruction.opcode))
      continue;
    instruction.address = std::stoull(address, nullptr, 16);
    std::getline(words >> std::ws, instruction.operands);
    const size_t last = instruction.operands.find_last_not_of(' ');
    instruction.operands.resize(last == std::string::npos ? 0 : last + 1);
    if (!instructions_.empty())
      instructions_.back().bytes = instruction.address - instructions_.back().address;
    instructions_.push_back(std::move(instruction));
  }
  if (!instructions_.empty())
    instructions_.back().bytes = 4;
  drop_prologue(instructions_);
  find_blocks();
  find_hot_loop();
}

/// The operand counts words from the next instruction, as 16 bits with a sign.
std::optional<size_t> IsaListing::branch_target(size_t instruction) const {
  const IsaInstruction &branch = instructions_[instruction];
  const auto words = static_cast<int16_t>(std::stoul(branch.operands, nullptr, 0));
  const uint64_t address = branch.address + 4 + static_cast<uint64_t>(int64_t{words} * 4);
  const auto found = std::lower_bound(
      instructions_.begin(), instructions_.end(), address,
      [](const IsaInstruction &candidate, uint64_t wanted) { return candidate.address < wanted; });
  if (found == instructions_.end() || found->address != address)
    return std::nullopt;
  return found - instructions_.begin();
}

void IsaListing::find_blocks() {
  std::set<size_t> starts = {0};
  for (size_t i = 0; i < instructions_.size(); ++i) {
    if (is_branch(instructions_[i].opcode)) {
      if (const auto target = branch_target(i))
        starts.insert(*target);
      starts.insert(i + 1);
    } else if (ends_program(instructions_[i].opcode)) {
      starts.insert(i + 1);
    }
  }
  starts.erase(instructions_.size());
  std::map<size_t, size_t> number;
  for (size_t start : starts) {
    number[start] = blocks_.size();
    blocks_.push_back({start, instructions_.size(), {}});
  }
  for (size_t b = 0; b < blocks_.size(); ++b) {
    if (b + 1 < blocks_.size())
      blocks_[b].end = blocks_[b + 1].first;
    if (blocks_[b].first == blocks_[b].end)
      continue;
    const size_t last = blocks_[b].end - 1;
    const std::string &opcode = instructions_[last].opcode;
    if (is_branch(opcode))
      if (const auto target = branch_target(last))
        blocks_[b].next.push_back(number.at(*target));
    if (opcode != "s_branch" && !ends_program(opcode) && b + 1 < blocks_.size())
      blocks_[b].next.push_back(b + 1);
  }
}

std::vector<std::set<size_t>> IsaListing::dominators() const {
  std::set<size_t> every;
  for (size_t b = 0; b < blocks_.size(); ++b)
    every.insert(b);
  std::vector<std::set<size_t>> result(blocks_.size(), every);
  if (!blocks_.empty())
    result[0] = {0};
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<std::set<size_t>> met(blocks_.size(), every);
    for (size_t b = 0; b < blocks_.size(); ++b)
      for (size_t next : blocks_[b].next)
        std::erase_if(met[next], [&](size_t candidate) { return result[b].count(candidate) == 0; });
    for (size_t b = 1; b < blocks_.size(); ++b) {
      met[b].insert(b);
      changed = changed || met[b] != result[b];
      result[b] = met[b];
    }
  }
  return result;
}

std::set<size_t> IsaListing::natural_loop(size_t header, size_t latch) const {
  std::set<size_t> body = {header, latch};
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const bool leads_in = std::any_of(blocks_[b].next.begin(), blocks_[b].next.end(),
                                        [&](size_t next) { return next != header && body.count(next) != 0; });
      grown = (leads_in && body.insert(b).second) || grown;
    }
  }
  return body;
}

size_t IsaListing::matrix_instructions(const std::set<size_t> &blocks) const {
  size_t count = 0;
  for (size_t b : blocks)
    for (size_t i = blocks_[b].first; i < blocks_[b].end; ++i)
      count += starts_with(instructions_[i].opcode, "v_mfma") ? 1 : 0;
  return count;
}

void IsaListing::find_hot_loop() {
  const std::vector<std::set<size_t>> dominating = dominators();
  std::map<size_t, std::set<size_t>> loops; // by header
  for (size_t b = 0; b < blocks_.size(); ++b)
    for (size_t header : blocks_[b].next)
      if (dominating[b].count(header) != 0)
        loops[header].merge(natural_loop(header, b));
  const std::set<size_t> *hottest = nullptr;
  size_t most = 0;
  for (const auto &[header, body] : loops) {
    const bool innermost = std::none_of(loops.begin(), loops.end(), [&](const auto &other) {
      return other.first != header && body.count(other.first) != 0 && matrix_instructions(other.second) > 0;
    });
    if (innermost && matrix_instructions(body) > most) {
      most = matrix_instructions(body);
      hottest = &body;
    }
  }
  if (!hottest)
    return;
  loop_.emplace();
  for (size_t b : *hottest)
    loop_->insert(loop_->end(), instructions_.begin() + static_cast<ptrdiff_t>(blocks_[b].first),
                  instructions_.begin() + static_cast<ptrdiff_t>(blocks_[b].end));
}

} // namespace nereid::test
