#pragma once

// The language: everything that a kernel is written with, and trace().
#include "dsl/config.h"
#include "dsl/control.h"
#include "dsl/elements.h"
#include "dsl/handle.h"
#include "dsl/ops.h"
#include "dsl/trace.h"
#include "dsl/var.h"
