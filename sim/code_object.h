#pragma once

#include "sim/object/code_object.h"
