// nereid tune import: what aiter found fills what a table does not have.
#include <algorithm>

#include <fmt/format.h>
#include <llvm/Support/MemoryBuffer.h>

#include "jit/tune/table_file.h"
#include "kernels/linear_config.h"
#include "tools/aiter_csv.h"
#include "tools/command.h"

namespace nereid::tools {
namespace {

constexpr const char *tune_import_footer =
    R"(Reads aiter's a4w4_blockscale_tuned_gemm.csv. A shape that the table has no record of gets the config with aiter's
tile and split of K, if the library has a kernel for it; its figure is aiter's time with aiter's kernel, marked as imported.
Anything that is tuned later goes before it.

Example:
  nereid tune import a4w4_blockscale_tuned_gemm.csv --table tables)";

struct ImportCommand {
  std::string csv;
  std::string table;
  std::string device;
};

/// The record of a row. Error: the library has no kernel for it.
Result<TuningRecord> record_of(const AiterRow &row) {
  const Partial<kernels::GemmConfig> gemm{.tile = {.block_m = row.tile_m, .block_n = row.tile_n},
                                          .split_k = row.split_k};
  NEREID_CHECK(kernels::plan_gemm(kernels::GemmPath::TwoPass, gemm, row.size));
  TuningRecord record;
  record.key = kernels::linear_key(row.size);
  record.config = kernels::linear_config_text({.path = kernels::GemmPath::TwoPass, .gemm = gemm}, row.size);
  record.figure = rounded_figure(row.us);
  record.unit = "us";
  record.ranking = imported_ranking;
  return record;
}

struct Counts {
  size_t added = 0;
  size_t present = 0;     ///< the table has records of the shape
  size_t unsupported = 0; ///< the library has no kernel of that tile
};

Status add(const AiterRows &rows, KernelTunings &tunings, Counts &counts) {
  std::vector<std::string> before = tunings.keys();
  for (const AiterRow &row : rows.rows) {
    const Result<TuningRecord> record = record_of(row);
    if (!record) {
      ++counts.unsupported;
    } else if (std::find(before.begin(), before.end(), record->key) != before.end()) {
      ++counts.present;
    } else {
      tunings.add(*record);
      ++counts.added;
    }
  }
  return {};
}

Outcome import(const CommonOptions &common, const ImportCommand &options) {
  auto file = llvm::MemoryBuffer::getFile(options.csv, /*IsText=*/true);
  if (!file)
    return user_error(fmt::format("cannot read {}: {}", options.csv, file.getError().message()));
  const llvm::StringRef text = (*file)->getBuffer();
  NEREID_TRY(const AiterRows rows, read_aiter_csv(text, options.csv));
  std::string device = options.device;
  if (device.empty()) {
    NEREID_TRY(const Device chosen, chosen_device(common));
    device = chosen.name();
  }
  const TableFile table(options.table, kernels::linear_name, device);
  Counts counts;
  NEREID_CHECK(table.update([&](KernelTunings &tunings) { return add(rows, tunings, counts); }));
  Outcome outcome;
  outcome.text =
      fmt::format("{}: {} added; left out: {} of shapes that the table has, {} of tiles that the library "
                  "has not, {} without a kernel, {} of other devices\n",
                  table.path(), counts.added, counts.present, counts.unsupported, rows.without_kernel,
                  rows.other_devices);
  outcome.json = llvm::json::Object{{"table", json_string(table.path())},
                                    {"added", counts.added},
                                    {"present", counts.present},
                                    {"unsupported", counts.unsupported},
                                    {"without_kernel", rows.without_kernel},
                                    {"other_devices", rows.other_devices}};
  return outcome;
}

} // namespace

void add_tune_import(Subcommand tune, Invocation &invocation) {
  auto options = std::make_shared<ImportCommand>();
  Subcommand command = add_command(tune, invocation, "import", "Fill a tuning table from aiter's tuned CSV",
                                   [&invocation, options] { return import(invocation.common, *options); });
  command.footer(tune_import_footer);
  add_device_option(command, invocation);
  command.option("CSV", options->csv, "aiter's table").required();
  command.option("--table", options->table, "Directory of tuning tables").required();
  command.option("--device-name", options->device,
                 "The device that the table is of, where it is not that of --device");
}

} // namespace nereid::tools
