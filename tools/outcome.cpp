// Exit codes and the JSON of errors.
#include "tools/outcome.h"

namespace nereid::tools {

ExitCode exit_code(const Error &error) {
  switch (error.owner) {
  case Owner::User:
    return ExitCode::Usage;
  case Owner::Environment:
    return ExitCode::Environment;
  case Owner::Nereid:
  case Owner::Device:
    break;
  }
  return ExitCode::Wrong;
}

llvm::json::Object to_json(const Error &error) {
  llvm::json::Object object{{"owner", owner_name(error.owner)}, {"message", json_string(error.message)}};
  if (!error.remedy.empty())
    object["remedy"] = json_string(error.remedy);
  if (error.where.known())
    object["where"] = json_string(error.where.text());
  return object;
}

Outcome failed_run(const Error &failure) {
  const bool environment = failure.owner == Owner::Environment;
  return Outcome(failure, environment ? ExitCode::Environment : ExitCode::Wrong);
}

Outcome::Outcome(const Error &failure) : Outcome(failure, exit_code(failure)) {}

Outcome::Outcome(const Error &failure, ExitCode failure_code)
    : code(failure_code), json{{"error", to_json(failure)}}, error(failure.text()) {}

} // namespace nereid::tools
