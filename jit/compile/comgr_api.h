#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace nereid::jit {

/// The part of AMD's code object manager (amd_comgr.h, interface versions 2 and 3) that Nereid uses, opened
/// at run time. Its actions run one at a time.
class ComgrApi {
public:
  /// Opens libamd_comgr and resolves what is used of it, once a process. Errors name what is missing
  /// (environment).
  static Result<const ComgrApi *> open();

  enum class DataKind : int { Source = 1, Log = 5, Bitcode = 6, Relocatable = 7, Executable = 8 };
  enum class Action { BitcodeToRelocatable, BitcodeToAssembly, RelocatableToExecutable };

  /// Runs one action on one piece of data; the error holds comgr's log.
  Result<std::vector<uint8_t>> run(Action action, const std::vector<std::string> &options,
                                   DataKind input_kind, const char *input_name,
                                   std::span<const uint8_t> input, DataKind output_kind) const;

  const std::string &path() const { return path_; } ///< as it was opened
  const std::string &build_id() const { return build_id_; }
  std::string version() const; ///< of the interface: "3.0"

private:
  struct Handle {
    uint64_t value;
  };
  using StatusCode = int;

  Status load();
  Status lists_target() const;
  std::string describe(StatusCode status) const;
  int number(Action action) const;
  class Objects;

  std::string path_;
  std::string build_id_;
  size_t major_ = 0;
  size_t minor_ = 0;

  void (*get_version_)(size_t *, size_t *) = nullptr;
  StatusCode (*status_string_)(StatusCode, const char **) = nullptr;
  StatusCode (*get_isa_count_)(size_t *) = nullptr;
  StatusCode (*get_isa_name_)(size_t, const char **) = nullptr;
  StatusCode (*create_data_)(int, Handle *) = nullptr;
  StatusCode (*release_data_)(Handle) = nullptr;
  StatusCode (*set_data_)(Handle, size_t, const char *) = nullptr;
  StatusCode (*set_data_name_)(Handle, const char *) = nullptr;
  StatusCode (*get_data_)(Handle, size_t *, char *) = nullptr;
  StatusCode (*create_data_set_)(Handle *) = nullptr;
  StatusCode (*destroy_data_set_)(Handle) = nullptr;
  StatusCode (*data_set_add_)(Handle, Handle) = nullptr;
  StatusCode (*action_data_get_data_)(Handle, int, size_t, Handle *) = nullptr;
  StatusCode (*action_data_count_)(Handle, int, size_t *) = nullptr;
  StatusCode (*create_action_info_)(Handle *) = nullptr;
  StatusCode (*destroy_action_info_)(Handle) = nullptr;
  StatusCode (*action_info_set_isa_name_)(Handle, const char *) = nullptr;
  StatusCode (*action_info_set_option_list_)(Handle, const char **, size_t) = nullptr;
  StatusCode (*action_info_set_logging_)(Handle, bool) = nullptr;
  StatusCode (*do_action_)(int, Handle, Handle, Handle) = nullptr;
};

} // namespace nereid::jit
