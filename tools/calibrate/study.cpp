// A calibration as text and as JSON.
#include "tools/calibrate/study.h"

#include <fmt/format.h>

#include "tools/calibrate/parameters.h"

namespace nereid::calibrate {
namespace {

using llvm::json::Array;
using llvm::json::Object;

std::string figures_text(const ErrorFigures &row) {
  return fmt::format("  {:<12} {:>5} {:>8.1f} {:>6.1f} {:>6.1f} {:>+6.1f}\n", row.name, row.count,
                     100 * row.median, 100 * row.p90, 100 * row.mean, 100 * row.bias);
}

std::string heading(const std::string &title) {
  return fmt::format("{}\n  {:<12} {:>5} {:>8} {:>6} {:>6} {:>6}\n", title, "class", "rows", "median %",
                     "p90 %", "mean %", "bias %");
}

std::string constants_text(const Study &study) {
  std::string text = fmt::format("Constants\n  {:<18} {:>12} {:>12}  unit\n", "name", "shipped",
                                 study.fitted ? "fitted" : "");
  for (const Parameter &parameter : parameters())
    text += fmt::format("  {:<18} {:>12.6g} {:>12}  {}\n", parameter.name, study.shipped.*parameter.member,
                        study.fitted ? fmt::format("{:.6g}", *study.fitted.*parameter.member) : "",
                        parameter.unit);
  return text;
}

double percent(size_t part, size_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string choice_text(const std::string &title, const TileChoice &choice) {
  if (choice.shapes == 0)
    return fmt::format("{}: none\n", title);
  return fmt::format("{}: {} shapes, best {:.1f} %, within 5 % of it {:.1f} %, mean regret {:.2f} %\n", title,
                     choice.shapes, percent(choice.best, choice.shapes),
                     percent(choice.within, choice.shapes), 100 * choice.mean_regret);
}

std::string details_text(const Accuracy &accuracy) {
  std::string text = heading("By tile");
  for (const ErrorFigures &row : accuracy.tiles)
    text += figures_text(row);
  text += fmt::format("Worst\n  {:>8} {:>8} {:>8}  {:<9} {:>10} {:>12} {:>7}\n", "M", "N", "K", "tile",
                      "measured us", "predicted us", "error %");
  for (const Prediction &row : accuracy.worst)
    text += fmt::format("  {:>8} {:>8} {:>8}  {:<9} {:>11.2f} {:>12.2f} {:>+7.1f}\n", row.measured.shape.m,
                        row.measured.shape.n, row.measured.shape.k, row.measured.tile.text(), row.measured.us,
                        row.us, 100 * row.error());
  return text;
}

Object figures_json(const ErrorFigures &row) {
  return Object{{"class", row.name},    {"rows", static_cast<int64_t>(row.count)},
                {"median", row.median}, {"p90", row.p90},
                {"mean", row.mean},     {"bias", row.bias}};
}

Array figures_json(const std::vector<ErrorFigures> &rows) {
  Array result;
  for (const ErrorFigures &row : rows)
    result.push_back(figures_json(row));
  return result;
}

Object accuracy_json(const NamedAccuracy &model) {
  Array worst;
  for (const Prediction &row : model.accuracy.worst)
    worst.push_back(Object{{"m", static_cast<int64_t>(row.measured.shape.m)},
                           {"n", static_cast<int64_t>(row.measured.shape.n)},
                           {"k", static_cast<int64_t>(row.measured.shape.k)},
                           {"tile", row.measured.tile.text()},
                           {"measured_us", row.measured.us},
                           {"predicted_us", row.us}});
  return Object{{"model", model.name},
                {"spearman", model.accuracy.spearman},
                {"classes", figures_json(model.accuracy.classes)},
                {"tiles", figures_json(model.accuracy.tiles)},
                {"worst", std::move(worst)}};
}

Object constants_json(const sim::DeviceModel &model) {
  Object result;
  for (const Parameter &parameter : parameters())
    result[parameter.name] = model.*parameter.member;
  return result;
}

Object choice_json(const TileChoice &choice) {
  return Object{{"shapes", static_cast<int64_t>(choice.shapes)},
                {"best", static_cast<int64_t>(choice.best)},
                {"within_5_percent", static_cast<int64_t>(choice.within)},
                {"mean_regret", choice.mean_regret}};
}

} // namespace

std::string study_text(const Study &study, bool details) {
  std::string text = fmt::format("{} measurements of {} pairs (N,K); {} of the early campaign\n",
                                 study.measurements, study.pairs, study.early);
  for (const NamedAccuracy &model : study.models) {
    text += heading(model.title);
    for (const ErrorFigures &row : model.accuracy.classes)
      text += figures_text(row);
    text += fmt::format("  Spearman {:.4f}\n", model.accuracy.spearman);
  }
  text += constants_text(study);
  if (!details)
    return text;
  if (!study.models.empty())
    text += details_text(study.models.back().accuracy);
  text += choice_text("Tile chosen among the measured ones of a shape", study.among_measured);
  if (study.among_all)
    text += choice_text("Measured tile among all, by predicted times", *study.among_all);
  return text;
}

Object study_json(const Study &study) {
  Array models;
  for (const NamedAccuracy &model : study.models)
    models.push_back(accuracy_json(model));
  Object constants{{"shipped", constants_json(study.shipped)}};
  if (study.fitted)
    constants["fitted"] = constants_json(*study.fitted);
  Object choice{{"among_measured", choice_json(study.among_measured)}};
  if (study.among_all)
    choice["among_all"] = choice_json(*study.among_all);
  Object result{{"measurements", static_cast<int64_t>(study.measurements)},
                {"pairs", static_cast<int64_t>(study.pairs)},
                {"early_campaign", static_cast<int64_t>(study.early)},
                {"models", std::move(models)},
                {"constants", std::move(constants)},
                {"tile_choice", std::move(choice)}};
  if (study.folds > 0)
    result["folds"] = study.folds;
  return result;
}

} // namespace nereid::calibrate
