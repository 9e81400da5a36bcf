#pragma once

namespace nereid::jit {

extern const char *const nereid_version;
extern const char *const lld_digest;       ///< SHA-256 of the linked LLD
extern const char *const code_digest;      ///< SHA-256 of the libraries of dsl/ and codegen/
extern const char *const simulator_digest; ///< SHA-256 of the library of sim/

} // namespace nereid::jit
