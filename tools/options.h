#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

/// Subcommands and their options, by CLI11; its headers, which cost seconds, are in options.cpp alone.
namespace nereid::tools {

/// An option, for what is said of it after its name.
class Option {
public:
  explicit Option(CLI::Option &option) : option_(&option) {}

  Option &required();
  Option &one_of(const std::vector<std::string> &values);
  /// A whole number from `min` to 2^64 - 1; by itself CLI11 takes -1 for the largest of them.
  Option &at_least(uint64_t min);
  /// What is wrong with a value; empty: nothing.
  Option &checked_by(std::function<std::string(const std::string &)> problem_of);
  /// --help has the default.
  Option &shows_default();
  /// So many values.
  Option &takes(int min, int max);
  /// Several times, with a value each.
  Option &repeated();
  /// Called with each value.
  Option &each(std::function<void(const std::string &)> use);

private:
  CLI::Option *option_;
};

/// A subcommand; what options set outlives the parsing.
class Subcommand {
public:
  explicit Subcommand(CLI::App &app) : app_(&app) {}

  Option option(const std::string &name, std::string &value, const std::string &description);
  Option option(const std::string &name, std::vector<std::string> &value, const std::string &description);
  Option option(const std::string &name, int64_t &value, const std::string &description);
  Option option(const std::string &name, uint64_t &value, const std::string &description);
  Option option(const std::string &name, unsigned &value, const std::string &description);
  Option option(const std::string &name, double &value, const std::string &description);
  Option flag(const std::string &name, bool &value, const std::string &description);
  /// What --help says after the options.
  void footer(const std::string &text);
  /// One that only has subcommands, of which one is required.
  Subcommand group(const std::string &name, const std::string &description);
  /// One with --json into `json`; `action` is called when it is on the command line without a subcommand of
  /// its own.
  Subcommand command(const std::string &name, const std::string &description, bool &json,
                     std::function<void()> action);

private:
  CLI::App *app_;
};

} // namespace nereid::tools
