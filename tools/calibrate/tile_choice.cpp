// Whether the model chooses good tiles.
#include "tools/calibrate/tile_choice.h"

#include <algorithm>
#include <map>

namespace nereid::calibrate {
namespace {

constexpr double near_best = 1.05;
constexpr double not_worth_simulating = 2;

void add(TileChoice &choice, double chosen, double best) {
  ++choice.shapes;
  choice.best += chosen <= best ? 1 : 0;
  choice.within += chosen <= near_best * best ? 1 : 0;
  choice.mean_regret += (chosen / best - 1 - choice.mean_regret) / static_cast<double>(choice.shapes);
}

double rotating_us(const sim::LaunchProfile &profile, const sim::DeviceModel &model) {
  return sim::device_us(profile, sim::CacheState::Rotating, model);
}

/// The tiles that may be the best for a shape by their counted profiles, and in any case `measured`.
Result<std::vector<WantedLaunch>> promising(const Shape &shape, const Tile &measured,
                                            std::span<const Tile> tiles, const sim::DeviceModel &model) {
  std::vector<std::pair<Tile, double>> estimates;
  double best = 0;
  for (const Tile &tile : tiles) {
    NEREID_TRY(const sim::LaunchProfile counted, counted_profile({tile, shape}));
    estimates.emplace_back(tile, rotating_us(counted, model));
    best = estimates.size() == 1 ? estimates.back().second : std::min(best, estimates.back().second);
  }
  std::vector<WantedLaunch> result{{measured, shape}};
  for (const auto &[tile, us] : estimates)
    if (tile != measured && us <= not_worth_simulating * best)
      result.push_back({tile, shape});
  return result;
}

} // namespace

TileChoice choice_among_measured(std::span<const Sample> samples, std::span<const double> predicted) {
  std::map<Shape, std::vector<size_t>> by_shape;
  for (size_t i = 0; i < samples.size(); ++i)
    by_shape[samples[i].measured.shape].push_back(i);
  TileChoice choice;
  for (const auto &[shape, rows] : by_shape) {
    if (rows.size() < 2)
      continue;
    const auto chosen = *std::min_element(rows.begin(), rows.end(),
                                          [&](size_t a, size_t b) { return predicted[a] < predicted[b]; });
    const auto best = *std::min_element(rows.begin(), rows.end(), [&](size_t a, size_t b) {
      return samples[a].measured.us < samples[b].measured.us;
    });
    add(choice, samples[chosen].measured.us, samples[best].measured.us);
  }
  return choice;
}

Result<TileChoice> winner_among_all(std::span<const Sample> samples, std::span<const Tile> tiles,
                                    size_t count, const sim::DeviceModel &model, const ProfileSource &source,
                                    unsigned threads) {
  count = std::min(count, samples.size());
  std::vector<WantedLaunch> launches;
  std::vector<size_t> firsts; // of each shape in `launches`
  for (size_t i = 0; i < count; ++i) {
    const Measurement &row = samples[i * samples.size() / count].measured;
    NEREID_TRY(const std::vector<WantedLaunch> of_shape, promising(row.shape, row.tile, tiles, model));
    firsts.push_back(launches.size());
    launches.insert(launches.end(), of_shape.begin(), of_shape.end());
  }
  firsts.push_back(launches.size());
  NEREID_TRY(const std::vector<sim::LaunchProfile> profiles, profiles_of(launches, source, threads));
  TileChoice choice;
  for (size_t i = 0; i < count; ++i) {
    const double winner = rotating_us(profiles[firsts[i]], model);
    double best = winner;
    for (size_t j = firsts[i]; j < firsts[i + 1]; ++j)
      best = std::min(best, rotating_us(profiles[j], model));
    add(choice, winner, best);
  }
  return choice;
}

} // namespace nereid::calibrate
