#pragma once

#include "sim/state/memory.h"
