#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace nereid::jit {

inline constexpr size_t digest_bytes = 32;

/// BLAKE3 of the parts, one after the other: 32 bytes. A kernel of 60 KiB takes some 30 us, an eighth of what
/// SHA-256 takes.
std::string digest(std::initializer_list<std::string_view> parts);

/// A digest in 64 lower-case hexadecimal digits.
std::string hexadecimal(std::string_view digest);

/// Whether a text is a kernel's key: 64 lower-case hexadecimal digits.
bool is_key(std::string_view text);

} // namespace nereid::jit
