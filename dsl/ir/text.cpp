// Keywords and strings of the text form, for the printer and the parser.
#include "dsl/ir/text.h"

#include <fmt/format.h>

namespace nereid::ir {

std::string_view block_keyword(Opcode opcode, size_t index) {
  if (opcode != Opcode::If)
    return "do";
  return index == 0 ? "then" : "else";
}

bool is_plain_name(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9'))
    return false;
  for (char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.'))
      return false;
  return true;
}

std::string quote(std::string_view bytes) {
  std::string out = "\"";
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + '"';
}

} // namespace nereid::ir
