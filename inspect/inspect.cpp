// Reports of kernels, code objects and launch files.
#include "inspect/inspect.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <llvm/Support/Path.h>

#include "dsl/ir/function.h"
#include "inspect/machine_code.h"
#include "inspect/occupancy.h"
#include "inspect/register_pressure.h"
#include "inspect/simulated_run.h"
#include "inspect/source_files.h"
#include "inspect/tile_code.h"
#include "jit/compile/inspection.h"
#include "jit/compile/large_stack.h"
#include "sim/launch_file/launch_file.h"

namespace nereid::inspect {
namespace {

std::span<const uint8_t> octets(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()};
}

CodeResources resources_of(const sim::KernelInfo &kernel) {
  return {kernel.vgpr_count, kernel.agpr_count,   kernel.sgpr_count,
          kernel.lds_size,   kernel.scratch_size, kernel.vgpr_spills + kernel.sgpr_spills};
}

unsigned waves_of(const std::array<uint32_t, 3> &block) {
  const uint64_t items = uint64_t{block[0]} * block[1] * block[2];
  return static_cast<unsigned>((items + sim::lane_count - 1) / sim::lane_count);
}

/// What of a report needs the code object alone.
Result<MachineCode> add_object(Report &report, std::span<const uint8_t> elf, const sim::CodeObject &code,
                               const sim::KernelInfo &kernel, SourceFiles &files, const OriginOf &origin_of) {
  report.kernel = kernel.name;
  report.resources = resources_of(kernel);
  NEREID_TRY(MachineCode machine, add_code(report, elf, code, kernel, files, origin_of));
  add_register_pressure(report, machine, code.program());
  return machine;
}

Result<sim::CacheState> caches_named(const std::string &name) {
  if (const auto state = sim::cache_state_named(name))
    return *state;
  return user_error(fmt::format("there is no state of the caches '{}'", name),
                    "they are cold, warm or rotating");
}

/// The explicit arguments as the metadata describes them.
std::vector<sim::KernelArgument> parameters_of(const sim::KernelInfo &kernel) {
  std::vector<sim::KernelArgument> parameters;
  for (const sim::KernelArgument &argument : kernel.arguments)
    if (!argument.hidden())
      parameters.push_back(argument);
  return parameters;
}

/// Allocates the memory of an argument, and gives the bytes that the kernel takes.
Result<std::vector<std::byte>> bytes_of(const RunArgument &given, const sim::KernelArgument &parameter,
                                        const std::string &what, sim::Memory &memory) {
  const bool is_memory = parameter.value_kind == "global_buffer";
  if (is_memory != (given.buffer_bytes > 0))
    return user_error(
        what + (is_memory ? " is memory, the run gives a number" : " is a number, the run gives memory"));
  if (!is_memory) {
    if (given.bytes.size() != parameter.size)
      return user_error(
          fmt::format("{} has {} bytes, the run gives {}", what, parameter.size, given.bytes.size()));
    return given.bytes;
  }
  NEREID_TRY(const uint64_t address, memory.allocate(given.buffer_bytes));
  NEREID_CHECK(memory.fill(address, std::byte{0}, given.buffer_bytes));
  if (!given.bytes.empty())
    NEREID_CHECK(memory.write(address, given.bytes.data(), given.bytes.size()));
  const auto bytes = std::as_bytes(std::span(&address, 1));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

/// Allocates the memory of a request and places its arguments.
Result<sim::Launch> launch_of(const RunRequest &run, const sim::KernelInfo &kernel, sim::Memory &memory) {
  sim::Launch launch;
  launch.kernel = kernel.name;
  launch.grid = run.grid;
  launch.block = run.block;
  NEREID_TRY(launch.caches, caches_named(run.caches));
  const std::vector<sim::KernelArgument> parameters = parameters_of(kernel);
  if (parameters.size() != run.arguments.size())
    return user_error(fmt::format("kernel '{}' takes {} arguments, the run gives {}", kernel.name,
                                  parameters.size(), run.arguments.size()));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const sim::KernelArgument &parameter = parameters[i];
    const std::string what = fmt::format("argument {} '{}' of kernel '{}'", i, parameter.name, kernel.name);
    NEREID_TRY(const std::vector<std::byte> bytes, bytes_of(run.arguments[i], parameter, what, memory));
    launch.kernarg.resize(std::max<size_t>(launch.kernarg.size(), parameter.offset + bytes.size()));
    std::copy(bytes.begin(), bytes.end(), launch.kernarg.begin() + parameter.offset);
  }
  return launch;
}

Status add_requested_run(Report &report, const MachineCode &machine, const sim::CodeObject &code,
                         const sim::KernelInfo &kernel, const RunRequest &run) {
  sim::Memory memory;
  NEREID_TRY(const sim::Launch launch, launch_of(run, kernel, memory));
  NEREID_CHECK(add_run(report, machine, code, memory, launch));
  report.run->operands = run.operands;
  return {};
}

/// The source lines of a code object's instructions: those of the operations that its line table counts,
/// where the file beside it has them, else what its own debug information says.
Result<OriginOf> line_table_of(std::span<const uint8_t> elf, const std::string &path) {
  if (std::vector<SourceLine> operations = read_operation_lines(path); !operations.empty())
    return OriginOf([operations = std::move(operations)](uint64_t, unsigned line) {
      return Origin{0, line > 0 && line <= operations.size() ? operations[line - 1] : SourceLine{}};
    });
  NEREID_TRY(const auto lines, jit::on_large_stack([&] { return jit::read_source_lines(elf); }));
  return OriginOf([lines](uint64_t address, unsigned) {
    const auto next = lines.upper_bound(address);
    return Origin{0, next == lines.begin() ? SourceLine{} : std::prev(next)->second};
  });
}

} // namespace

Result<Report> report_of(const CompiledKernel &kernel, const RunRequest *run) {
  if (!kernel.has_code())
    return user_error("kernel '" + kernel.name() + "' was built for the interpreter and has no code",
                      "compile it for a device");
  const SharedBytes elf = kernel.code_object();
  NEREID_TRY(const sim::CodeObject code, sim::CodeObject::load(std::as_bytes(std::span<const uint8_t>(elf))));
  NEREID_TRY(const sim::KernelInfo *info, code.kernel(kernel.name()));
  Report report;
  SourceFiles files;
  report.origin = "kernel";
  const auto origin_of = [&](uint64_t, unsigned line) { return Origin{line, kernel.source_line(line)}; };
  NEREID_TRY(const MachineCode machine, add_object(report, elf, code, *info, files, origin_of));
  report.config = kernel.config();
  report.compiler = kernel.compiler();
  report.key = kernel.key();
  report.resources.spills = kernel.resources().spills;
  add_tile_code(report, kernel, files);
  report.occupancy = occupancy_of(report.resources, report.resources.lds, kernel.block() / sim::lane_count);
  if (run) {
    RunRequest request = *run;
    request.block = {kernel.block(), 1, 1};
    NEREID_CHECK(add_requested_run(report, machine, code, *info, request));
  } else {
    report.notes.push_back("no launch was simulated: times, stalls, accesses and traffic are not known");
  }
  report.files = files.read();
  return report;
}

Result<Report> report_of(std::span<const std::byte> code_object, const std::string &kernel,
                         const RunRequest *run, const std::string &path) {
  NEREID_TRY(const sim::CodeObject code, sim::CodeObject::load(code_object));
  NEREID_TRY(const sim::KernelInfo *info, code.kernel(kernel));
  Report report;
  SourceFiles files(llvm::sys::path::parent_path(path).str());
  report.origin = "code object";
  NEREID_TRY(const OriginOf origin_of, line_table_of(octets(code_object), path));
  NEREID_TRY(const MachineCode machine,
             add_object(report, octets(code_object), code, *info, files, origin_of));
  const unsigned largest = (info->max_workgroup_size + sim::lane_count - 1) / sim::lane_count;
  const unsigned waves = run                    ? waves_of(run->block)
                         : info->required_block ? waves_of(*info->required_block)
                                                : largest;
  if (run)
    NEREID_CHECK(add_requested_run(report, machine, code, *info, *run));
  else
    report.notes.push_back("no launch was simulated: give a launch file to see times, stalls, accesses and "
                           "traffic. Waves of a workgroup are those of the largest block");
  report.occupancy = occupancy_of(report.resources, report.resources.lds, waves);
  report.files = files.read();
  return report;
}

Result<Report> report_of_launch_file(const std::string &path, const std::string &caches) {
  NEREID_TRY(const sim::LaunchFile file, sim::read_launch_file(path));
  NEREID_TRY(sim::LoadedLaunch loaded, sim::load_launch_file(file));
  if (!caches.empty()) {
    NEREID_TRY(loaded.launch.caches, caches_named(caches));
  }
  NEREID_TRY(const sim::KernelInfo *info, loaded.code.kernel(loaded.launch.kernel));
  Report report;
  SourceFiles files(llvm::sys::path::parent_path(file.code_object).str());
  report.origin = "launch file";
  NEREID_TRY(const OriginOf origin_of, line_table_of(octets(loaded.file), file.code_object));
  NEREID_TRY(const MachineCode machine,
             add_object(report, octets(loaded.file), loaded.code, *info, files, origin_of));
  loaded.launch.checks = {};
  NEREID_CHECK(add_run(report, machine, loaded.code, *loaded.memory, loaded.launch));
  report.run->operands = "what the launch file says";
  report.occupancy = occupancy_of(report.resources, report.resources.lds + loaded.launch.dynamic_lds,
                                  waves_of(loaded.launch.block));
  report.files = files.read();
  return report;
}

} // namespace nereid::inspect
