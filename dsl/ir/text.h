#pragma once

#include <string>
#include <string_view>

#include "dsl/ir/op.h"

namespace nereid::ir {

/// The words of the text form that the printer and the parser share.

/// The word before block `index` of an operation: "do" of a for, "then" and "else" of an if.
std::string_view block_keyword(Opcode opcode, size_t index);

/// True for a name that is written without quotes: letters, digits, '_' and '.', no digit first.
bool is_plain_name(std::string_view name);

/// In double quotes, with \" \\ \n and \xHH (other control bytes).
std::string quote(std::string_view bytes);

} // namespace nereid::ir
