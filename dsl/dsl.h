#pragma once

// The language: everything that a kernel is written with, trace(), and print() of what it gives.
#include "dsl/config.h"
#include "dsl/control.h"
#include "dsl/elements.h"
#include "dsl/handle.h"
#include "dsl/ir/printer.h"
#include "dsl/ops.h"
#include "dsl/trace.h"
#include "dsl/var.h"
