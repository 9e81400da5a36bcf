// Opens libamd_comgr and runs its actions.
#include "jit/compile/comgr_api.h"

#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "jit/compile/compiler.h"
#include "jit/compile/identity.h"
#include "jit/compile/shared_library.h"

namespace nereid::jit {

/// The handles of one action, released together.
class ComgrApi::Objects {
public:
  explicit Objects(const ComgrApi &api) : api_(api) {}
  ~Objects() {
    for (Handle set : sets_)
      api_.destroy_data_set_(set);
    for (Handle data : data_)
      api_.release_data_(data);
    if (info_)
      api_.destroy_action_info_(*info_);
  }
  Objects(const Objects &) = delete;
  Objects &operator=(const Objects &) = delete;

  /// The first failure of all calls so far.
  StatusCode status() const { return status_; }
  bool good(StatusCode status) {
    if (!status_)
      status_ = status;
    return !status_;
  }

  Handle data_set() {
    Handle set{};
    if (good(api_.create_data_set_(&set)))
      sets_.push_back(set);
    return set;
  }
  Handle data(DataKind kind) {
    Handle data{};
    if (good(api_.create_data_(static_cast<int>(kind), &data)))
      data_.push_back(data);
    return data;
  }
  Handle info() {
    Handle info{};
    if (good(api_.create_action_info_(&info)))
      info_ = info;
    return info;
  }
  /// The first piece of a kind in a set; empty when there is none.
  std::vector<uint8_t> bytes(Handle set, DataKind kind) {
    std::vector<uint8_t> bytes;
    size_t count = 0, size = 0;
    Handle data{};
    if (api_.action_data_count_(set, static_cast<int>(kind), &count) || !count ||
        api_.action_data_get_data_(set, static_cast<int>(kind), 0, &data))
      return bytes;
    data_.push_back(data);
    if (api_.get_data_(data, &size, nullptr))
      return bytes;
    bytes.resize(size);
    if (api_.get_data_(data, &size, reinterpret_cast<char *>(bytes.data())))
      bytes.clear();
    return bytes;
  }

private:
  const ComgrApi &api_;
  StatusCode status_ = 0;
  std::vector<Handle> sets_;
  std::vector<Handle> data_;
  std::optional<Handle> info_;
};

Status ComgrApi::load() {
  const SharedLibrary library{"libamd_comgr.so.3", "/opt/rocm/lib/libamd_comgr.so.3", "libamd_comgr.so"};
  if (!library.open())
    return environment_error("libamd_comgr cannot be opened: " + library.reasons(),
                             "The embedded compiler serves; scripts/comgr-prefix fetches a comgr for tests");
  path_ = library.name();
  bool complete = library.resolve("amd_comgr_get_version", get_version_) &&
                  library.resolve("amd_comgr_status_string", status_string_) &&
                  library.resolve("amd_comgr_get_isa_count", get_isa_count_) &&
                  library.resolve("amd_comgr_get_isa_name", get_isa_name_) &&
                  library.resolve("amd_comgr_create_data", create_data_) &&
                  library.resolve("amd_comgr_release_data", release_data_) &&
                  library.resolve("amd_comgr_set_data", set_data_) &&
                  library.resolve("amd_comgr_set_data_name", set_data_name_) &&
                  library.resolve("amd_comgr_get_data", get_data_) &&
                  library.resolve("amd_comgr_create_data_set", create_data_set_) &&
                  library.resolve("amd_comgr_destroy_data_set", destroy_data_set_) &&
                  library.resolve("amd_comgr_data_set_add", data_set_add_) &&
                  library.resolve("amd_comgr_action_data_get_data", action_data_get_data_) &&
                  library.resolve("amd_comgr_action_data_count", action_data_count_) &&
                  library.resolve("amd_comgr_create_action_info", create_action_info_) &&
                  library.resolve("amd_comgr_destroy_action_info", destroy_action_info_) &&
                  library.resolve("amd_comgr_action_info_set_isa_name", action_info_set_isa_name_) &&
                  library.resolve("amd_comgr_action_info_set_option_list", action_info_set_option_list_) &&
                  library.resolve("amd_comgr_action_info_set_logging", action_info_set_logging_) &&
                  library.resolve("amd_comgr_do_action", do_action_);
  if (!complete)
    return environment_error(path_ + " lacks functions that Nereid uses", "Install comgr 7 of ROCm");
  build_id_ = build_id_at(reinterpret_cast<const void *>(do_action_));
  get_version_(&major_, &minor_);
  if (major_ < 2 || major_ > 3)
    return environment_error(
        fmt::format("{} has interface version {}; Nereid knows 2 and 3", path_, version()));
  return lists_target();
}

Status ComgrApi::lists_target() const {
  size_t count = 0;
  get_isa_count_(&count);
  for (size_t i = 0; i < count; ++i)
    if (const char *name = nullptr; !get_isa_name_(i, &name) && std::string(name) == target_isa)
      return {};
  return environment_error(fmt::format("{} (interface {}) does not know {}", path_, version(), target_cpu),
                           "Install comgr 7 of ROCm; the embedded compiler serves");
}

Result<const ComgrApi *> ComgrApi::open() {
  static ComgrApi api;
  static const Status loaded = api.load();
  NEREID_CHECK(loaded);
  return &api;
}

std::string ComgrApi::version() const { return fmt::format("{}.{}", major_, minor_); }

std::string ComgrApi::describe(StatusCode status) const {
  const char *text = nullptr;
  return status_string_(status, &text) ? fmt::format("status {}", status) : text;
}

int ComgrApi::number(Action action) const {
  // Version 3 of the interface numbered its actions anew.
  switch (action) {
  case Action::BitcodeToRelocatable:
    return major_ >= 3 ? 4 : 6;
  case Action::BitcodeToAssembly:
    return major_ >= 3 ? 5 : 7;
  case Action::RelocatableToExecutable:
    return major_ >= 3 ? 7 : 9;
  }
  return -1;
}

Result<std::vector<uint8_t>> ComgrApi::run(Action action, const std::vector<std::string> &options,
                                           DataKind input_kind, const char *input_name,
                                           std::span<const uint8_t> input, DataKind output_kind) const {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::vector<const char *> option_list;
  option_list.reserve(options.size());
  for (const std::string &option : options)
    option_list.push_back(option.c_str());

  Objects objects(*this);
  const Handle data = objects.data(input_kind), in = objects.data_set(), out = objects.data_set();
  const Handle info = objects.info();
  bool ready = !objects.status() &&
               objects.good(set_data_(data, input.size(), reinterpret_cast<const char *>(input.data()))) &&
               objects.good(set_data_name_(data, input_name)) && objects.good(data_set_add_(in, data)) &&
               objects.good(action_info_set_isa_name_(info, target_isa)) &&
               objects.good(action_info_set_option_list_(info, option_list.data(), option_list.size())) &&
               objects.good(action_info_set_logging_(info, true));
  if (ready && objects.good(do_action_(number(action), info, in, out)))
    if (std::vector<uint8_t> bytes = objects.bytes(out, output_kind); !bytes.empty())
      return bytes;
  const std::vector<uint8_t> log = objects.bytes(out, DataKind::Log);
  return nereid_error(
      fmt::format("comgr: {}: {}", describe(objects.status()), std::string(log.begin(), log.end())),
      "NEREID_COMPILER=embedded uses the linked LLVM");
}

} // namespace nereid::jit
