#pragma once

#include "sim/run/execution.h"
