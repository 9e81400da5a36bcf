#pragma once

// Reports of compiled kernels: what they became and what they do in a simulated launch (docs/inspect.md).
#include "inspect/compare.h"
#include "inspect/inspect.h"
#include "inspect/render/render.h"
