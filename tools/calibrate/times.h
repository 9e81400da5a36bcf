#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/calibrate/measurement.h"

namespace nereid::calibrate {

/// The measurements of a CSV file whose first line is "M,N,K,tile_m,tile_n,us": whole numbers from 1 on and
/// microseconds above 0; empty lines are left out. Error (User), with file and line: the file cannot be read
/// or has no measurement, another first line, a line with other fields, a launch that an earlier line has.
Result<std::vector<Measurement>> read_times(const std::string &path);

/// The same of a text; `name` stands for the file in errors.
Result<std::vector<Measurement>> parse_times(const std::string &text, const std::string &name);

} // namespace nereid::calibrate
