#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "dsl/config.h"

namespace nereid {

namespace detail {

/// A field of a config and the values it takes in a space, as text.
struct ConfigAxis {
  explicit ConfigAxis(std::string name, std::vector<std::string> texts = {})
      : field(std::move(name)), values(std::move(texts)) {}

  std::string field;
  std::vector<std::string> values;
};

/// Calls visit with each combination of values, the last axis the fastest. Errors (User): an axis without
/// values, two of one field, more than 65536 combinations, those of visit.
Status for_each_combination(std::span<const ConfigAxis> axes,
                            const std::function<Status(const std::vector<size_t> &)> &visit);

} // namespace detail

/// Configs to try: the base, those of a list and all combinations of the values of fields, less what a
/// constraint refuses.
///
///     ConfigSpace<AddConfig> space;
///     space.axis("block", {256, 1024, 4096}).axis("waves", {1, 2, 4, 8});
///     space.where([](const AddConfig &c) { return c.block >= 64 * c.waves; });
template <ListedConfig C> class ConfigSpace {
public:
  /// `base` is the first config, which mode off takes, and what fields without an axis have. It is tried also
  /// where axes of its fields do not have its values.
  explicit ConfigSpace(C base = {}) : base_(base) {}

  /// The values of a field, by its name.
  ConfigSpace &axis(std::string_view field, std::initializer_list<int64_t> values) {
    detail::ConfigAxis &added = axes_.emplace_back(std::string(field));
    for (const int64_t value : values)
      added.values.push_back(std::to_string(value));
    return *this;
  }
  /// Those of an enum by their names. (A template, so that `{}` is no values of the other.)
  template <class Name = std::string_view>
  ConfigSpace &axis(std::string_view field, std::initializer_list<std::type_identity_t<Name>> values) {
    axes_.emplace_back(std::string(field), std::vector<std::string>(values.begin(), values.end()));
    return *this;
  }
  /// A config of its own, in addition to the combinations.
  ConfigSpace &add(const C &config) {
    listed_.push_back(config);
    return *this;
  }
  /// Only configs for which this is true.
  ConfigSpace &where(std::function<bool(const C &)> constraint) {
    constraints_.push_back(std::move(constraint));
    return *this;
  }

  /// The base, the list, the combinations, each config once. Errors (User): an axis of a field that is not
  /// there, two axes of one field, a value that it does not take, no values, more than 65536 combinations.
  Result<std::vector<C>> configs() const {
    std::vector<C> all;
    std::set<decltype(config_key(base_))> seen;
    const auto take = [&](const C &config) {
      const auto allows = [&](const auto &constraint) { return constraint(config); };
      if (std::all_of(constraints_.begin(), constraints_.end(), allows) &&
          seen.insert(config_key(config)).second)
        all.push_back(config);
    };
    take(base_);
    std::for_each(listed_.begin(), listed_.end(), take);
    NEREID_CHECK(detail::for_each_combination(axes_, [&](const std::vector<size_t> &chosen) -> Status {
      C config = base_;
      for (size_t i = 0; i < axes_.size(); ++i)
        NEREID_CHECK(config_set(config, axes_[i].field, axes_[i].values[chosen[i]]));
      take(config);
      return {};
    }));
    return all;
  }

private:
  C base_;
  std::vector<C> listed_;
  std::vector<detail::ConfigAxis> axes_;
  std::vector<std::function<bool(const C &)>> constraints_;
};

} // namespace nereid
