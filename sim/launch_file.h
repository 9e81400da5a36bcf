#pragma once

#include "sim/launch_file/launch_file.h"
