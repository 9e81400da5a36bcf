#pragma once

// All of Nereid that a program includes: the language, devices, kernels.
#include "dsl/dsl.h"
#include "jit/buffer.h"
#include "jit/compiled_kernel.h"
#include "jit/compiler_availability.h"
#include "jit/device.h"
#include "jit/kernel.h"
#include "jit/launch.h"
#include "jit/ranking.h"
#include "jit/tuner.h"
