// Poison, zeroes and saved contents.
#include "jit/tune/memory_hooks.h"

#include <algorithm>

#include <fmt/format.h>

#include "jit/device/device_interface.h"
#include "jit/tune/guarded_call.h"

namespace nereid::jit {
namespace {

constexpr uint8_t poison_byte = 0xff;

Status check_device(const MemoryRange &range, const Stream &stream, const std::string &owner) {
  if (!range.device || range.device == &stream.interface())
    return {};
  return user_error(fmt::format("a buffer of {} lives on another device than the stream", owner));
}

Status check_list(const std::vector<MemoryRange> &ranges, const Stream &stream, const char *list) {
  for (const MemoryRange &range : ranges) {
    NEREID_CHECK(check_device(range, stream, list));
    if (!range.bytes)
      return user_error(fmt::format("a range of {} has no size", list), "List the buffer itself");
  }
  return {};
}

} // namespace

Result<MemoryHooks> MemoryHooks::make(const TuneRequest &request, const Stream &stream) {
  MemoryHooks hooks(request, stream);
  NEREID_CHECK(check_list(request.outputs, stream, "outputs"));
  NEREID_CHECK(check_list(request.reset_to_zero, stream, "reset_to_zero"));
  NEREID_CHECK(check_list(request.restore, stream, "restore"));
  const bool lists = !request.outputs.empty() || !request.reset_to_zero.empty() || !request.restore.empty();
  for (const TuneCandidate &candidate : request.candidates) {
    if (candidate.writes.empty() && !lists && !request.prepare)
      return user_error(
          fmt::format("tuning '{}' needs to know what '{}' writes", request.kernel, candidate.config),
          "List it in the request's outputs, so that no candidate is right by what an earlier "
          "one wrote");
    for (const MemoryRange &range : candidate.writes) {
      NEREID_CHECK(check_device(range, stream, "'" + candidate.config + "'"));
      if (!range.bytes && !hooks.is_listed(range))
        return user_error(
            fmt::format("'{}' writes to an address whose buffer is not known", candidate.config),
            "List the buffer in the request's outputs, reset_to_zero or restore");
    }
  }
  NEREID_CHECK(hooks.save());
  return hooks;
}

Status MemoryHooks::save() {
  NEREID_CHECK(stream_.synchronize());
  for (const MemoryRange &range : request_->restore) {
    saved_.emplace_back(range.bytes);
    NEREID_CHECK(stream_.interface().read(saved_.back().data(), range.address, range.bytes));
  }
  return {};
}

bool MemoryHooks::is_listed(const MemoryRange &range) const {
  for (const auto *list : {&request_->outputs, &request_->reset_to_zero, &request_->restore})
    if (std::any_of(list->begin(), list->end(),
                    [&](const MemoryRange &listed) { return listed.contains(range.address); }))
      return true;
  return false;
}

Status MemoryHooks::poison(const std::vector<MemoryRange> &ranges) const {
  for (const MemoryRange &range : ranges)
    if (range.bytes)
      NEREID_CHECK(stream_.interface().fill(range.address, poison_byte, range.bytes));
  return {};
}

Status MemoryHooks::before_checked_run(const TuneCandidate &candidate) const {
  // What is zeroed or restored is set after the poison, so overlaps do no harm.
  NEREID_CHECK(poison(candidate.writes));
  NEREID_CHECK(poison(request_->outputs));
  return before_run();
}

Status MemoryHooks::before_run() const {
  for (const MemoryRange &range : request_->reset_to_zero)
    NEREID_CHECK(stream_.interface().fill(range.address, 0, range.bytes));
  for (size_t i = 0; i < saved_.size(); ++i)
    NEREID_CHECK(stream_.interface().write(request_->restore[i].address, saved_[i].data(), saved_[i].size()));
  if (request_->prepare)
    NEREID_CHECK(guarded_call("prepare", request_->prepare));
  // Memory is set in the order of the default stream.
  return stream_.device().synchronize();
}

} // namespace nereid::jit
