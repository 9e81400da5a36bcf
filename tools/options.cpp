// Subcommands and their options, by CLI11.
#include "tools/options.h"

#include <charconv>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace nereid::tools {

Option &Option::required() {
  option_->required();
  return *this;
}

Option &Option::one_of(const std::vector<std::string> &values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option &Option::at_least(uint64_t min) {
  return checked_by([min](const std::string &text) -> std::string {
    uint64_t value = 0;
    const char *const end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, value);
    if (status == std::errc() && stop == end && value >= min)
      return "";
    return fmt::format("{} is not a whole number from {} to 2^64 - 1", text, min);
  });
}

Option &Option::checked_by(std::function<std::string(const std::string &)> problem_of) {
  option_->check(CLI::Validator(std::move(problem_of), "", ""));
  return *this;
}

Option &Option::shows_default() {
  option_->capture_default_str();
  return *this;
}

Option &Option::takes(int min, int max) {
  option_->expected(min, max);
  return *this;
}

Option &Option::repeated() {
  option_->allow_extra_args(false);
  return *this;
}

Option &Option::each(std::function<void(const std::string &)> use) {
  option_->each(std::move(use));
  return *this;
}

Option Subcommand::option(const std::string &name, std::string &value, const std::string &description) {
  return Option(*app_->add_option(name, value, description));
}
Option Subcommand::option(const std::string &name, std::vector<std::string> &value,
                          const std::string &description) {
  return Option(*app_->add_option(name, value, description));
}
Option Subcommand::option(const std::string &name, int64_t &value, const std::string &description) {
  return Option(*app_->add_option(name, value, description));
}
Option Subcommand::option(const std::string &name, uint64_t &value, const std::string &description) {
  return Option(*app_->add_option(name, value, description));
}
Option Subcommand::option(const std::string &name, unsigned &value, const std::string &description) {
  return Option(*app_->add_option(name, value, description));
}
Option Subcommand::option(const std::string &name, double &value, const std::string &description) {
  return Option(*app_->add_option(name, value, description));
}

Option Subcommand::flag(const std::string &name, bool &value, const std::string &description) {
  return Option(*app_->add_flag(name, value, description));
}

void Subcommand::footer(const std::string &text) { app_->footer(text); }

Subcommand Subcommand::group(const std::string &name, const std::string &description) {
  CLI::App *group = app_->add_subcommand(name, description);
  group->require_subcommand(1);
  return Subcommand(*group);
}

Subcommand Subcommand::command(const std::string &name, const std::string &description, bool &json,
                               std::function<void()> action) {
  CLI::App *command = app_->add_subcommand(name, description);
  command->footer(""); // not that of the whole command, which subcommands inherit
  command->add_flag("--json", json, "Print one JSON object on stdout, also on failure");
  command->callback([command, action = std::move(action)] {
    if (command->get_subcommands().empty())
      action();
  });
  return Subcommand(*command);
}

} // namespace nereid::tools
