#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/config_limits.h"

namespace nereid::kernels {

/// A key of a config whose value may be changed.
template <class Config> struct Key {
  std::string_view name;
  int Config::*member;
};

/// How far a value is from another, by their ratio.
inline double ratio_distance(int a, int b) { return std::abs(std::log2(a) - std::log2(b)); }

/// The remedy of a config that is refused: the nearest that `check` takes. Values that are not allowed become
/// the nearest that are; then one key is changed, or two.
template <class Config> class NearestConfig {
public:
  using Keys = std::span<const Key<Config>>;
  using Check = std::function<Status(const Config &)>;

  NearestConfig(const Config &config, Keys keys, const Check &check)
      : config_(config), keys_(keys), check_(check) {}

  std::string remedy() {
    const Config allowed = with_allowed_values();
    consider(allowed, 0);
    if (!best_)
      for (const Key<Config> &key : keys_)
        change(allowed, key, [&](const Config &changed, double far) { consider(changed, far); });
    if (!best_)
      for (size_t i = 0; i < keys_.size(); ++i)
        for (size_t j = i + 1; j < keys_.size(); ++j)
          consider_pairs(allowed, keys_[i], keys_[j]);
    return best_ ? changes_of(*best_) : "leave the blocks out: the library chooses them";
  }

private:
  Config with_allowed_values() const {
    Config allowed = config_;
    for (const Key<Config> &key : keys_) {
      const int value = config_.*key.member;
      if (key.name == "mfma" || is_allowed(key.name, value))
        continue;
      const std::vector<int> values = allowed_values(key.name);
      allowed.*key.member = *std::min_element(values.begin(), values.end(), [value](int a, int b) {
        return ratio_distance(a, value) < ratio_distance(b, value);
      });
    }
    return allowed;
  }

  void consider(const Config &changed, double far) {
    if ((best_ && far >= best_distance_) || !check_(changed))
      return;
    best_ = changed;
    best_distance_ = far;
  }

  template <class Use> static void change(const Config &from, const Key<Config> &key, const Use &use) {
    for (int value : allowed_values(key.name)) {
      Config changed = from;
      changed.*key.member = value;
      use(changed, ratio_distance(value, from.*key.member));
    }
  }

  void consider_pairs(const Config &from, const Key<Config> &first, const Key<Config> &second) {
    change(from, first, [&](const Config &half, double far) {
      change(half, second, [&](const Config &changed, double more) { consider(changed, far + more); });
    });
  }

  std::string changes_of(const Config &nearest) const {
    std::vector<std::string> changes;
    for (const Key<Config> &key : keys_)
      if (nearest.*key.member != config_.*key.member)
        changes.push_back(fmt::format("{}={}", key.name, nearest.*key.member));
    return fmt::format("use {}", fmt::join(changes, ","));
  }

  const Config &config_;
  Keys keys_;
  const Check &check_;
  std::optional<Config> best_;
  double best_distance_ = 0;
};

/// What `check` says, and where it refuses the config, the nearest that it takes as the remedy.
template <class Config>
Status with_nearest(const Config &config, std::span<const Key<Config>> keys,
                    const typename NearestConfig<Config>::Check &check) {
  Status status = check(config);
  if (status)
    return status;
  Error error = status.error();
  error.remedy = NearestConfig<Config>(config, keys, check).remedy();
  return error;
}

} // namespace nereid::kernels
