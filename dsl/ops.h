#pragma once

// The operations of the language, by subject.
#include "dsl/ops/cdiv.h"
#include "dsl/ops/elementwise.h"
#include "dsl/ops/fast.h"
#include "dsl/ops/fold.h"
#include "dsl/ops/matrix.h"
#include "dsl/ops/memory.h"
#include "dsl/ops/mx_view.h"
#include "dsl/ops/random.h"
#include "dsl/ops/reduce.h"
#include "dsl/ops/shape.h"
#include "dsl/ops/sort.h"
#include "dsl/ops/statement.h"
#include "dsl/ops/view.h"
