#pragma once

#include "sim/decode/coverage.h"
