#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::codegen {

/// What the code of a staged loop's copies to LDS and of its reads is to keep, for whoever checks the machine
/// code: instruction n of the copies belongs to stage n / copies, instruction n of the reads to stage
/// n / reads, stage s stands in buffer s % buffers. Copies and reads are known by their source position.
struct PipelineContract {
  unsigned line;   ///< of the load in the tile IR
  unsigned column; ///< which of the code's parts, see below
  unsigned copies; ///< instructions of a wave and stage
  unsigned reads;
  unsigned buffers;

  bool operator==(const PipelineContract &) const = default;
};

/// Columns of copies and reads: in the pipeline, its very first copy (where counting starts), in the rounds
/// that follow one at a time.
inline constexpr unsigned pipeline_column = 2, first_copy_column = 3, remainder_column = 4;

/// The kernel's attribute that carries the promises, and its text.
inline constexpr const char *pipeline_contract_attribute = "nereid-staged";
std::string text_of(const std::vector<PipelineContract> &contracts);
/// Nothing if the text is no list of promises.
std::optional<std::vector<PipelineContract>> parse_contracts(std::string_view text);

} // namespace nereid::codegen
