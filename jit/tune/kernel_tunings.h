#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jit/tune/tuning_key.h"
#include "jit/tune/tuning_record.h"

namespace nereid {

/// All records of one kernel on one device: what a table's file holds (docs/tuning.md). The text depends on
/// the records alone, not on the order in which they came.
class KernelTunings {
public:
  KernelTunings(std::string kernel, std::string device)
      : kernel_(std::move(kernel)), device_(std::move(device)) {}

  const std::string &kernel() const & { return kernel_; }
  const std::string &device() const & { return device_; }
  bool empty() const { return records_.empty(); }

  /// The record of a config by a ranking with a state of the caches, or null.
  const TuningRecord *find(std::string_view key, std::string_view config, std::string_view ranking,
                           std::string_view caches) const &;
  /// The winner of a key, or null.
  const TuningRecord *winner(std::string_view key) const &;
  std::vector<std::string> keys() const;
  std::vector<TuningRecord> records(std::string_view key) const;

  /// The winners alone, as tables that are shipped have them.
  KernelTunings winners() const;

  /// Takes a record. A config has one for each ranking and state of the caches, and of two kept_of says which
  /// stays. Records of the same key, ranking and caches whose identity is another go: their figures do not
  /// compare with this one.
  void add(const TuningRecord &record);
  /// Drops the figure that a config has for other code than `code`.
  void drop_other_code(const TuningRecord &record, const std::string &code);
  /// Adds the records of another table, which counts as the later one. Error (User): it is of another kernel
  /// or device.
  Status add(const KernelTunings &later);

  /// The lines of the file, the last of which is the checksum.
  std::string text() const;
  /// The inverse. `name` is what messages call it. Error (Environment): it is damaged, truncated or of
  /// another version; the remedy says what to do with the file.
  static Result<KernelTunings> parse(std::string_view text, const std::string &name);

private:
  /// One of each config, ranking and state of the caches, in that order.
  using Configs = std::vector<TuningRecord>;

  std::string kernel_;
  std::string device_;
  std::map<std::string, Configs, NaturalLess> records_; ///< by key
};

} // namespace nereid
