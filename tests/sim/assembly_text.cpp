#include "tests/sim/assembly_text.h"

#include <sstream>

namespace nereid::sim::test {

AssemblyText::AssemblyText(const std::string &text) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines_.push_back(line);
}

std::string AssemblyText::instruction(size_t number) const {
  const std::string code = lines_[number].substr(0, lines_[number].find(';'));
  const size_t first = code.find_first_not_of(" \t"), last = code.find_last_not_of(" \t");
  if (first == std::string::npos || first == 0 || code[first] == '.') // a label or a directive
    return {};
  return code.substr(first, last + 1 - first);
}

std::vector<size_t> AssemblyText::lines_with(const std::string &mnemonic) const {
  std::vector<size_t> result;
  for (size_t i = 0; i < lines_.size(); ++i) {
    const std::string found = instruction(i);
    if (found == mnemonic || found.starts_with(mnemonic + " "))
      result.push_back(i);
  }
  return result;
}

bool AssemblyText::in_loop(size_t number) const {
  for (size_t label = 0; label < number; ++label) {
    const size_t colon = lines_[label].find(':');
    if (!lines_[label].starts_with(".LBB") || colon == std::string::npos)
      continue;
    const std::string name = lines_[label].substr(0, colon);
    for (size_t i = number; i < lines_.size(); ++i) {
      const std::string branch = instruction(i);
      if ((branch.starts_with("s_cbranch_") || branch.starts_with("s_branch ")) &&
          branch.ends_with(" " + name))
        return true;
    }
  }
  return false;
}

std::vector<size_t> AssemblyText::loop_lines_with(const std::string &mnemonic) const {
  std::vector<size_t> result;
  for (const size_t number : lines_with(mnemonic))
    if (in_loop(number))
      result.push_back(number);
  return result;
}

size_t AssemblyText::wait_before(size_t line, const std::string &counter) const {
  while (line-- > 0) {
    const std::string found = instruction(line);
    if (found.starts_with("s_waitcnt ") && found.find(counter + "(") != std::string::npos)
      return line;
    if (found == "s_barrier" || lines_[line].starts_with(".LBB"))
      return none;
  }
  return none;
}

std::string AssemblyText::text() const {
  std::string result;
  for (const std::string &line : lines_)
    result += line + "\n";
  return result;
}

std::string AssemblyText::without(size_t number) const {
  AssemblyText changed = *this;
  changed.lines_[number].clear();
  return changed.text();
}

std::string AssemblyText::with_raised(size_t number, const std::string &counter) const {
  AssemblyText changed = *this;
  std::string &line = changed.lines_[number];
  const size_t at = line.find(counter + "(");
  if (at == std::string::npos)
    return {};
  const size_t digits = at + counter.size() + 1, end = line.find(')', digits);
  line.replace(digits, end - digits, std::to_string(std::stoul(line.substr(digits, end - digits)) + 1));
  return changed.text();
}

} // namespace nereid::sim::test
