// Profiles as lines of JSON.
#include "tools/calibrate/profile_store.h"

#include <fmt/format.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include "base/json_nesting.h"

namespace nereid::calibrate {
namespace {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;
using sim::LaunchProfile;
using sim::PhaseProfile;
using sim::RoundProfile;

struct PhaseField {
  llvm::StringLiteral name;
  double PhaseProfile::*member;
};

constexpr PhaseField phase_fields[] = {
    {"cycles", &PhaseProfile::cycles},
    {"mfma_cycles", &PhaseProfile::mfma_cycles},
    {"issue_cycles", &PhaseProfile::issue_cycles},
    {"lds_cycles", &PhaseProfile::lds_cycles},
    {"load_bytes", &PhaseProfile::load_bytes},
    {"store_bytes", &PhaseProfile::store_bytes},
    {"fabric_bytes", &PhaseProfile::fabric_bytes},
    {"hbm_bytes", &PhaseProfile::hbm_bytes},
    {"matrix_flop", &PhaseProfile::matrix_flop},
};

Value to_json(const RoundProfile &round) {
  Array phases;
  for (const PhaseProfile &phase : round.phases) {
    Object fields;
    for (const PhaseField &field : phase_fields)
      fields[field.name] = phase.*field.member;
    phases.push_back(std::move(fields));
  }
  Object stalls;
  for (const auto &[reason, cycles] : round.stalls)
    stalls[reason] = cycles;
  return Object{{"repeats", static_cast<int64_t>(round.repeats)},
                {"workgroups", static_cast<int64_t>(round.workgroups)},
                {"compute_units", static_cast<int64_t>(round.compute_units)},
                {"loaded_bytes", round.loaded_bytes},
                {"phases", std::move(phases)},
                {"stalls", std::move(stalls)}};
}

bool fromJSON(const Value &value, PhaseProfile &phase, llvm::json::Path path) {
  llvm::json::ObjectMapper fields(value, path);
  bool good = bool(fields);
  for (const PhaseField &field : phase_fields)
    good = good && fields.map(field.name, phase.*field.member);
  return good;
}

bool read_round(const Value &value, RoundProfile &round, llvm::json::Path path) {
  llvm::json::ObjectMapper fields(value, path);
  const Object *object = value.getAsObject();
  const Array *phases = object ? object->getArray("phases") : nullptr;
  if (!fields || phases == nullptr || phases->size() != round.phases.size())
    return false;
  for (size_t i = 0; i < phases->size(); ++i)
    if (!fromJSON((*phases)[i], round.phases[i], path.field("phases").index(static_cast<unsigned>(i))))
      return false;
  return fields.map("repeats", round.repeats) && fields.map("workgroups", round.workgroups) &&
         fields.map("compute_units", round.compute_units) && fields.map("loaded_bytes", round.loaded_bytes) &&
         fields.map("stalls", round.stalls);
}

/// A line's key and profile; nothing of a damaged line.
std::optional<std::pair<std::string, LaunchProfile>> parse_line(llvm::StringRef line) {
  if (!check_json_nesting(line))
    return std::nullopt;
  auto value = llvm::json::parse(line);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  std::pair<std::string, LaunchProfile> result;
  auto &[key, profile] = result;
  llvm::json::Path::Root root;
  llvm::json::ObjectMapper fields(*value, root);
  const Object *object = value->getAsObject();
  const Array *rounds = object ? object->getArray("rounds") : nullptr;
  if (!fields || rounds == nullptr || !fields.map("key", key) ||
      !fields.map("footprint_bytes", profile.footprint_bytes) ||
      !fields.map("cycles_per_workgroup", profile.cycles_per_workgroup))
    return std::nullopt;
  for (const Value &round : *rounds)
    if (!read_round(round, profile.rounds.emplace_back(), root))
      return std::nullopt;
  return result;
}

std::string to_line(const std::string &key, const LaunchProfile &profile) {
  Array rounds;
  for (const RoundProfile &round : profile.rounds)
    rounds.push_back(to_json(round));
  std::string line;
  llvm::raw_string_ostream(line) << Value(Object{{"key", key},
                                                 {"footprint_bytes", profile.footprint_bytes},
                                                 {"cycles_per_workgroup", profile.cycles_per_workgroup},
                                                 {"rounds", std::move(rounds)}});
  return line;
}

} // namespace

Result<std::unique_ptr<ProfileStore>> ProfileStore::open(const std::string &path) {
  std::unique_ptr<ProfileStore> store(new ProfileStore(path));
  if (path.empty() || !llvm::sys::fs::exists(path))
    return store;
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true, /*RequiresNullTerminator=*/false);
  if (!file)
    return environment_error(fmt::format("cannot read {}: {}", path, file.getError().message()));
  llvm::SmallVector<llvm::StringRef> lines;
  (*file)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (const llvm::StringRef line : lines)
    if (auto entry = parse_line(line))
      store->profiles_.insert_or_assign(std::move(entry->first), std::move(entry->second));
  return store;
}

std::optional<LaunchProfile> ProfileStore::find(const std::string &key) const {
  const std::lock_guard lock(mutex_);
  const auto found = profiles_.find(key);
  return found == profiles_.end() ? std::nullopt : std::optional(found->second);
}

Status ProfileStore::add(const std::string &key, const LaunchProfile &profile) {
  const std::lock_guard lock(mutex_);
  profiles_.insert_or_assign(key, profile);
  if (path_.empty())
    return {};
  std::error_code failure;
  llvm::raw_fd_ostream file(path_, failure, llvm::sys::fs::OF_Append);
  if (!failure) {
    // A line of its own, also after one that a kill cut off.
    file << "\n" << to_line(key, profile);
    file.close();
    failure = file.error();
    file.clear_error();
  }
  if (failure)
    return environment_error(fmt::format("cannot write {}: {}", path_, failure.message()));
  return {};
}

} // namespace nereid::calibrate
