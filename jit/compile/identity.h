#pragma once

#include <string>

namespace nereid::jit {

/// Version and build id of the LLVM library that runs in this process.
std::string llvm_identity();
/// Version of the linked LLD and a digest of its library.
std::string lld_identity();
/// Our version and a digest of the libraries that make code (language, lowering).
std::string nereid_identity();

/// The GNU build id, in hexadecimal digits, of the loaded library that holds an address; its path when it has
/// none.
std::string build_id_at(const void *address);

} // namespace nereid::jit
