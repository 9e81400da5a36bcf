// A launch of a library kernel from its problem's size.
#include "tools/sized_run.h"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>

namespace nereid::tools {
namespace {

using inspect::RunArgument;

/// Memory that a kernel does not read still has an address.
constexpr int64_t min_bytes = 256;

Result<std::vector<kernels::GivenNumber>> parse_numbers(const std::string &text) {
  std::vector<kernels::GivenNumber> numbers;
  llvm::SmallVector<llvm::StringRef> entries;
  llvm::StringRef(text).split(entries, ',', -1, /*KeepEmpty=*/false);
  for (const llvm::StringRef entry : entries) {
    const auto [name, digits] = entry.split('=');
    int64_t value = 0;
    if (name.empty() || digits.getAsInteger(10, value))
      return user_error(fmt::format("'{}' of --numbers is not name=integer", entry.str()));
    numbers.emplace_back(name.str(), value);
  }
  return numbers;
}

RunArgument run_argument(kernels::ExampleLaunch::Argument argument) {
  kernels::BoundArgument &bound = argument.argument;
  if (!bound.number.empty())
    return {0, std::move(bound.number)};
  return {static_cast<uint64_t>(std::max(bound.memory_bytes, min_bytes)), std::move(argument.contents)};
}

} // namespace

Result<inspect::RunRequest> sized_run(const kernels::ConfiguredKernel &configured, const std::string &numbers,
                                      const std::string &caches) {
  NEREID_TRY(const std::vector<kernels::GivenNumber> given, parse_numbers(numbers));
  NEREID_TRY(kernels::ExampleLaunch launch, configured.example_launch(given));
  inspect::RunRequest run;
  run.grid = launch.grid.sizes();
  run.operands = launch.words;
  if (!caches.empty())
    run.caches = caches;
  for (kernels::ExampleLaunch::Argument &argument : launch.arguments)
    run.arguments.push_back(run_argument(std::move(argument)));
  return run;
}

} // namespace nereid::tools
