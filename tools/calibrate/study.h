#pragma once

#include <optional>
#include <string>
#include <vector>

#include <llvm/Support/JSON.h>

#include "tools/calibrate/report.h"
#include "tools/calibrate/tile_choice.h"

namespace nereid::calibrate {

/// The accuracy of a model.
struct NamedAccuracy {
  std::string name; ///< "shipped", "fitted" or "cross_validated"
  std::string title;
  Accuracy accuracy;
};

/// All that a calibration found.
struct Study {
  size_t measurements = 0, pairs = 0, early = 0;
  std::vector<NamedAccuracy> models;
  sim::DeviceModel shipped;
  std::optional<sim::DeviceModel> fitted;
  unsigned folds = 0;
  TileChoice among_measured;           ///< by the last of the models
  std::optional<TileChoice> among_all; ///< by the fitted model, else by the shipped one
};

/// For people. With `details` also a line a tile and the worst cases of the last model.
std::string study_text(const Study &study, bool details);
llvm::json::Object study_json(const Study &study);

} // namespace nereid::calibrate
