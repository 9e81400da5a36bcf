// What the fragments of docs/layouts.md use.
#include <fmt/format.h>

#include "base/result.h"
#include "codegen/layout/layout_drawing.h"
#include "codegen/layout/linear_layout.h"

using namespace nereid;
using namespace nereid::codegen;

struct Context {};
#define NAMES
