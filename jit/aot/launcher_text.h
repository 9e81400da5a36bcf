#pragma once

#include <string>
#include <string_view>

#include "jit/aot/signature.h"

namespace nereid::aot {

/// NAME.h
std::string header_text(const Signature &signature);
/// NAME.c
std::string source_text(const Signature &signature);
/// NAME.json
std::string manifest_text(const Signature &signature);

// Files that all launchers share.
extern const std::string_view common_header; ///< nereid_aot.h
extern const std::string_view hip_header;    ///< nereid_aot_hip.h

/// "m is not a multiple of 16"
std::string violation(const Condition &condition);

} // namespace nereid::aot
