#pragma once

// All of Nereid that a program includes: the language, devices, kernels.
#include "dsl/dsl.h"
#include "jit/compile/compiled_kernel.h"
#include "jit/compile/compiler_availability.h"
#include "jit/device/buffer.h"
#include "jit/device/device.h"
#include "jit/device/launch.h"
#include "jit/kernel.h"
#include "jit/tune/candidate.h"
#include "jit/tune/compile_all.h"
#include "jit/tune/config_space.h"
#include "jit/tune/ranking.h"
#include "jit/tune/table_file.h"
#include "jit/tune/tuner.h"
#include "jit/tune/tuning_key.h"
#include "jit/tune/tuning_table.h"
