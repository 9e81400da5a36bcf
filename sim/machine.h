#pragma once

#include "sim/run/machine.h"
