#include "codegen/schedule/lds_pipeline_contract.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace nereid::codegen {

std::string text_of(const std::vector<PipelineContract> &contracts) {
  std::string text;
  for (const PipelineContract &p : contracts)
    text += fmt::format("{},{},{},{},{};", p.line, p.column, p.copies, p.reads, p.buffers);
  return text;
}

std::optional<std::vector<PipelineContract>> parse_contracts(std::string_view text) {
  std::vector<PipelineContract> contracts;
  const char *at = text.data(), *end = text.data() + text.size();
  while (at != end) {
    std::array<unsigned, 5> numbers{};
    for (size_t i = 0; i < numbers.size(); ++i) {
      auto [next, error] = std::from_chars(at, end, numbers[i]);
      const char separator = i + 1 == numbers.size() ? ';' : ',';
      if (error != std::errc() || next == end || *next != separator)
        return std::nullopt;
      at = next + 1;
    }
    contracts.push_back({numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]});
  }
  return contracts;
}

} // namespace nereid::codegen
