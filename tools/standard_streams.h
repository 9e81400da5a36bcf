#pragma once

namespace nereid::tools {

/// First of all in main: where stdin, stdout or stderr is closed, no file that the program opens may take its
/// number, or what is printed would go into that file. Uses of a closed stream fail as before.
void reserve_standard_streams();

} // namespace nereid::tools
