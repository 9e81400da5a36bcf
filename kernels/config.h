#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::kernels {

/// How the partial sums of a K split come together.
enum class Reduce : int { None, Atomic, Workspace, LastArrival };
/// How the waves of a workgroup share a tile.
enum class WaveSplit : int { Auto, N, K, Mn };
/// How mxfp4_quant rounds: integer arithmetic of its own, or the language's quantize.
enum class QuantPath : int { Software, Hardware };

/// The printed names, in order: part of the kernels' keys and of --config.
constexpr auto nereid_config_names(Reduce) {
  return std::to_array<std::string_view>({"none", "atomic", "workspace", "last_arrival"});
}
constexpr auto nereid_config_names(WaveSplit) {
  return std::to_array<std::string_view>({"auto", "n", "k", "mn"});
}
constexpr auto nereid_config_names(QuantPath) { return std::to_array<std::string_view>({"sw", "hw"}); }

/// A problem size: A is [m, k], B is [n, k], C is [m, n]. The quantiser's n is 0.
struct ProblemSize {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;

  auto operator<=>(const ProblemSize &) const = default;
  /// "16x2112x7168".
  std::string text() const;
};

/// One key of a library kernel's config.
struct ConfigKey {
  std::string_view name;
  int least;
  int most;
  std::vector<std::string_view> words; ///< names of the values least, least + 1, ...; empty for a number
  std::vector<int> numbers;            ///< the only values, in order; empty: all from least to most
  std::string_view meaning;
};

/// All keys, in the order in which they are printed.
const std::vector<ConfigKey> &config_keys();

/// Values for some of the keys: what a user asked for, or a whole config.
class ConfigValues {
public:
  ConfigValues() = default;
  ConfigValues(std::initializer_list<std::pair<const std::string, int>> values) : values_(values) {}

  /// From "block_m=16,reduce=atomic". Error (User): unknown key or value, a key given twice, no '='.
  static Result<ConfigValues> parse(std::string_view text);

  std::optional<int> get(std::string_view key) const;
  int get_or(std::string_view key, int otherwise) const { return get(key).value_or(otherwise); }
  void set(std::string_view key, int value) { values_[std::string(key)] = value; }
  bool empty() const { return values_.empty(); }

  /// Error (User) naming the first key that is not in `known`.
  Status only(std::string_view kernel, const std::vector<std::string_view> &known) const;

  /// The inverse of parse, keys in the table's order.
  std::string text() const;
  /// Key and printed value in the table's order.
  std::vector<std::pair<std::string, std::string>> printed() const;

  bool operator==(const ConfigValues &) const = default;

private:
  std::map<std::string, int, std::less<>> values_;
};

} // namespace nereid::kernels
