// Runs a launch file: loads the code object, allocates the buffers, places the arguments, writes the outputs.

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>

#include "base/output_file.h"
#include "sim/launch_file/launch_file.h"

namespace nereid::sim {
namespace {

using FileContent = std::unique_ptr<llvm::MemoryBuffer>;

Error keyed(const std::string &key, const Error &error) {
  Error result = error;
  result.message = key + ": " + result.message;
  return result;
}

/// A regular file: a device may never end.
Result<FileContent> content(const std::string &path, const std::string &key) {
  llvm::sys::fs::file_status status;
  std::error_code failure = llvm::sys::fs::status(path, status);
  if (!failure && !llvm::sys::fs::is_regular_file(status))
    return user_error(fmt::format("{}: {} is not a regular file", key, path));
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return user_error(fmt::format("{}: cannot read {}: {}", key, path, buffer.getError().message()));
  return std::move(*buffer);
}

Result<CodeObject> load(const FileContent &file, const std::string &path) {
  auto code = CodeObject::load(std::as_bytes(std::span(file->getBufferStart(), file->getBufferSize())));
  if (!code)
    return keyed(fmt::format("code_object: {}", path), code.error());
  return code;
}

/// What the kernel's own needs add to the limits of the file.
Status check(const LaunchFile &file, const KernelInfo &kernel) {
  const uint32_t items = file.block[0] * file.block[1] * file.block[2];
  if (items > kernel.max_workgroup_size)
    return user_error(fmt::format("block: {} work-items, kernel '{}' takes at most {}", items, kernel.name,
                                  kernel.max_workgroup_size));
  if (uint64_t{kernel.lds_size} + file.dynamic_lds > max_lds)
    return user_error(fmt::format("dynamic_lds: {} bytes and the {} of kernel '{}' are more than {}",
                                  file.dynamic_lds, kernel.lds_size, kernel.name, max_lds));
  return {};
}

struct Span {
  uint64_t begin, end;
  std::string key;
};

/// Gives the entries of "values" the offsets of the metadata. Integers may fill arguments of 1 and 2 bytes.
Status assign_offsets(std::vector<ArgumentEntry> &entries, const KernelInfo &kernel) {
  std::vector<const KernelArgument *> targets;
  for (const KernelArgument &argument : kernel.arguments)
    if (!argument.hidden())
      targets.push_back(&argument);
  for (size_t i = 0; i < entries.size(); ++i) {
    ArgumentEntry &entry = entries[i];
    if (entry.offset)
      continue;
    if (i >= targets.size())
      return user_error(
          fmt::format("{}: kernel '{}' has {} arguments", entry.key, kernel.name, targets.size()));
    const KernelArgument &target = *targets[i];
    if (entry.integer && entry.size == 4 && target.size < 4 && target.size > 0) {
      uint32_t value;
      std::memcpy(&value, entry.bytes.data(), 4);
      const uint32_t above = value >> (8 * target.size - 1);
      const uint32_t sign = ~uint32_t{0} >> (8 * target.size - 1);
      if (value >> (8 * target.size) == 0 || above == sign)
        entry.size = target.size;
    }
    if (entry.size != target.size)
      return user_error(fmt::format("{}: {} bytes do not fit argument {} of {} bytes", entry.key, entry.size,
                                    target.name.empty() ? std::to_string(i) : "'" + target.name + "'",
                                    target.size));
    entry.offset = target.offset;
  }
  return {};
}

/// Every entry inside the argument block, none over another or over a hidden argument.
Status check_offsets(const std::vector<ArgumentEntry> &entries, const KernelInfo &kernel, uint32_t size) {
  std::vector<Span> spans;
  for (const KernelArgument &argument : kernel.arguments)
    if (argument.hidden()) {
      spans.push_back({argument.offset, uint64_t{argument.offset} + argument.size, argument.value_kind});
      if (spans.back().end > size)
        return user_error(fmt::format("kernarg_size: {} bytes do not hold the argument {} at {}", size,
                                      argument.value_kind, argument.offset));
    }
  for (const ArgumentEntry &entry : entries) {
    const Span span{*entry.offset, uint64_t{*entry.offset} + entry.size, entry.key};
    if (span.end > size)
      return user_error(fmt::format("{}: offset {} and {} bytes are beyond the argument block of {} bytes",
                                    entry.key, span.begin, entry.size, size));
    for (const Span &other : spans)
      if (span.begin < other.end && other.begin < span.end)
        return user_error(
            fmt::format("{}: bytes {} to {} overlap {}", entry.key, span.begin, span.end - 1, other.key));
    spans.push_back(span);
  }
  return {};
}

/// The buffers of a launch file in simulated memory.
class Buffers {
public:
  Status allocate(const LaunchFile &file) {
    std::map<std::string, FileContent> contents;
    for (const BufferEntry &entry : file.buffers) {
      Buffer &buffer = buffers_[entry.name];
      buffer.size = entry.size;
      if (entry.file.empty())
        continue;
      NEREID_TRY(FileContent loaded, content(entry.file, key(entry) + ".file"));
      buffer.size = loaded->getBufferSize();
      contents[entry.name] = std::move(loaded);
    }
    for (const ArgumentEntry &entry : file.arguments)
      if (!entry.buffer.empty() && entry.at > buffers_[entry.buffer].size)
        return user_error(fmt::format("{}.at: {} is beyond the {} bytes of buffer '{}'", entry.key, entry.at,
                                      buffers_[entry.buffer].size, entry.buffer));
    for (const BufferEntry &entry : file.buffers) {
      Buffer &buffer = buffers_[entry.name];
      auto address = memory->allocate(buffer.size);
      if (!address)
        return keyed(key(entry), address.error());
      buffer.address = *address;
      Status filled;
      if (const auto found = contents.find(entry.name); found != contents.end())
        filled = memory->write(buffer.address, found->second->getBufferStart(), buffer.size);
      else if (entry.fill)
        filled = memory->fill(buffer.address, *entry.fill, buffer.size);
      if (!filled)
        return keyed(key(entry), filled.error());
    }
    return {};
  }

  uint64_t address(const ArgumentEntry &entry) const { return buffers_.at(entry.buffer).address + entry.at; }

  /// "; the buffer is 'x'" of the buffer next to an address outside, which was probably meant; nothing when
  /// none is near.
  std::string near(uint64_t address) const {
    const std::string *nearest = nullptr;
    uint64_t shortest = uint64_t{1} << 34; // half of what lies between two buffers
    for (const auto &[name, buffer] : buffers_) {
      const uint64_t end = buffer.address + buffer.size;
      const uint64_t distance = address < buffer.address ? buffer.address - address
                                : address > end          ? address - end
                                                         : 0;
      if (distance < shortest) {
        shortest = distance;
        nearest = &name;
      }
    }
    return nearest ? fmt::format("; the buffer is '{}'", *nearest) : "";
  }

  Status write(const std::string &name, const std::string &path) const {
    const Buffer &buffer = buffers_.at(name);
    const Memory::View view = memory->view();
    const Block *block = view.find(buffer.address, buffer.size);
    const Status written = write_file(path, {reinterpret_cast<const char *>(block->data()), buffer.size});
    return written ? written : keyed("outputs." + name, written.error());
  }

  std::unique_ptr<Memory> memory = std::make_unique<Memory>();

private:
  struct Buffer {
    uint64_t address = 0;
    uint64_t size = 0;
  };
  static std::string key(const BufferEntry &entry) { return "buffers." + entry.name; }

  std::map<std::string, Buffer> buffers_;
};

Status check_outputs(const LaunchFile &file) {
  std::vector<NamedFile> inputs{{"code_object", file.code_object}}, outputs;
  if (!file.path.empty())
    inputs.push_back({"the launch itself", file.path});
  for (const BufferEntry &entry : file.buffers)
    if (!entry.file.empty())
      inputs.push_back({"buffers." + entry.name + ".file", entry.file});
  for (const auto &[name, path] : file.outputs)
    outputs.push_back({"outputs." + name, path});
  return nereid::check_outputs(outputs, inputs);
}

struct PreparedLaunch {
  FileContent file;
  CodeObject code;
  Launch launch;
};

/// Allocates the buffers.
Result<PreparedLaunch> prepare(const LaunchFile &file, Buffers &buffers) {
  NEREID_TRY(FileContent object, content(file.code_object, "code_object"));
  NEREID_TRY(CodeObject code, load(object, file.code_object));
  const auto kernel = code.kernel(file.kernel);
  if (!kernel)
    return keyed("kernel", kernel.error());
  NEREID_CHECK(check(file, **kernel));
  std::vector<ArgumentEntry> arguments = file.arguments;
  const uint32_t kernarg_size = file.kernarg_size.value_or((*kernel)->kernarg_size);
  NEREID_CHECK(assign_offsets(arguments, **kernel));
  NEREID_CHECK(check_offsets(arguments, **kernel, kernarg_size));
  NEREID_CHECK(buffers.allocate(file));

  Launch launch;
  launch.kernel = file.kernel;
  launch.grid = file.grid;
  launch.block = file.block;
  launch.dynamic_lds = file.dynamic_lds;
  launch.kernarg_size = kernarg_size;
  launch.any_order = file.any_order;
  launch.timing = file.timing;
  launch.caches = file.caches;
  for (const std::string &kind : file.checks)
    launch.checks.enable(kind);
  uint64_t end = 0;
  for (const ArgumentEntry &entry : arguments)
    end = std::max<uint64_t>(end, uint64_t{*entry.offset} + entry.size);
  launch.kernarg.resize(end);
  for (const ArgumentEntry &entry : arguments) {
    const uint64_t address = entry.buffer.empty() ? 0 : buffers.address(entry);
    const void *from = entry.buffer.empty() ? static_cast<const void *>(entry.bytes.data()) : &address;
    std::memcpy(launch.kernarg.data() + *entry.offset, from, entry.size);
  }
  return PreparedLaunch{std::move(object), std::move(code), std::move(launch)};
}

Result<Report> launch(const LaunchFile &file, Buffers &buffers, uint64_t instruction_budget) {
  NEREID_CHECK(check_outputs(file));
  NEREID_TRY(PreparedLaunch prepared, prepare(file, buffers));
  prepared.launch.instruction_budget = instruction_budget;
  return run(prepared.code, *buffers.memory, prepared.launch);
}

} // namespace

Result<LoadedLaunch> load_launch_file(const LaunchFile &file) {
  Buffers buffers;
  NEREID_TRY(PreparedLaunch prepared, prepare(file, buffers));
  const auto bytes =
      std::as_bytes(std::span(prepared.file->getBufferStart(), prepared.file->getBufferSize()));
  return LoadedLaunch{{bytes.begin(), bytes.end()},
                      std::move(prepared.code),
                      std::move(buffers.memory),
                      std::move(prepared.launch)};
}

LaunchAnswer run_launch_file(const LaunchFile &file, uint64_t instruction_budget) {
  LaunchAnswer answer;
  Buffers buffers;
  auto report = launch(file, buffers, instruction_budget);
  if (!report) {
    answer.error = report.error();
    return answer;
  }
  answer.report = std::move(*report);
  if (std::optional<Fault> &fault = answer.report.fault; fault && fault->memory)
    fault->text += buffers.near(*fault->memory);
  for (const auto &[name, path] : file.outputs)
    if (Status written = buffers.write(name, path); !written && !answer.error)
      answer.error = written.error();
  return answer;
}

} // namespace nereid::sim
