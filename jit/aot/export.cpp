// Writes the files of exported kernels, and their manifests.
#include "jit/aot/export.h"

#include <set>

#include <fmt/format.h>

#include "base/output_file.h"
#include "jit/aot/launcher_text.h"
#include "jit/compile/compiler.h"
#include "jit/compile/resources_json.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace nereid::aot {
namespace {

using llvm::json::Array;
using llvm::json::Object;

constexpr int manifest_format = 1;

Object argument_json(const Parameter &parameter, const std::map<std::string, std::string> &layouts) {
  Object argument{
      {"name", parameter.name},        {"c_type", llvm::StringRef(parameter.c_type()).trim().str()},
      {"type", parameter.type.text()}, {"kind", parameter.pointer() ? "memory" : "value"},
      {"offset", parameter.offset},    {"size", parameter.size}};
  if (parameter.pointer())
    argument["read_only"] = parameter.read_only;
  if (const auto layout = layouts.find(parameter.name); layout != layouts.end())
    argument["layout"] = layout->second;
  return argument;
}

Object condition_json(const Condition &condition) {
  constexpr const char *keys[] = {"multiple_of", "equals", "at_least", "at_most"};
  return Object{{"argument", condition.argument}, {keys[static_cast<int>(condition.kind)], condition.value}};
}

Object programs_json(const Programs &programs) {
  switch (programs.kind) {
  case Programs::Kind::Given:
    return Object{{"given", programs.argument}};
  case Programs::Kind::Constant:
    return Object{{"constant", programs.value}};
  case Programs::Kind::Blocks:
    break;
  }
  return Object{{"argument", programs.argument}, {"block", programs.value}};
}

struct File {
  std::string path;
  std::string content;
};

std::vector<File> files_of(const std::string &directory, std::span<const Signature> signatures) {
  std::vector<File> files = {{directory + "/nereid_aot.h", std::string(common_header)},
                             {directory + "/nereid_aot_hip.h", std::string(hip_header)}};
  for (const Signature &signature : signatures) {
    const std::string stem = fmt::format("{}/{}", directory, signature.name);
    const SharedBytes object = signature.kernel.kernel->code_object();
    files.push_back({stem + ".hsaco", std::string(object.begin(), object.end())});
    files.push_back({stem + ".h", header_text(signature)});
    files.push_back({stem + ".c", source_text(signature)});
    files.push_back({stem + ".json", manifest_text(signature)});
  }
  return files;
}

/// All of them; where one cannot be written, none that was not there before.
Status write_all(std::span<const File> files) {
  std::vector<NamedFile> outputs;
  for (const File &file : files)
    outputs.push_back({"", file.path});
  NEREID_CHECK(check_outputs(outputs, {}));
  std::vector<std::string> added;
  for (const File &file : files) {
    const bool is_new = !llvm::sys::fs::exists(file.path);
    if (Status written = write_file(file.path, file.content); !written) {
      for (const std::string &path : added)
        static_cast<void>(llvm::sys::fs::remove(path));
      return written;
    }
    if (is_new)
      added.push_back(file.path);
  }
  return {};
}

} // namespace

std::string manifest_text(const Signature &signature) {
  const CompiledKernel &kernel = *signature.kernel.kernel;
  Array arguments, conditions, programs;
  for (const Parameter &parameter : signature.parameters)
    arguments.push_back(argument_json(parameter, signature.kernel.layouts));
  for (const Condition &condition : signature.conditions)
    conditions.push_back(condition_json(condition));
  for (const Programs &dimension : signature.programs)
    programs.push_back(programs_json(dimension));
  Object manifest{{"format", manifest_format},
                  {"name", signature.name},
                  {"kernel", kernel.name()},
                  {"config", kernel.config()},
                  {"target", jit::target_isa},
                  {"key", kernel.key()},
                  {"compiler", kernel.compiler()},
                  {"code_object", signature.name + ".hsaco"},
                  {"block", Array{int64_t{kernel.block()}, 1, 1}},
                  {"programs", std::move(programs)},
                  {"arguments", std::move(arguments)},
                  {"preconditions", std::move(conditions)},
                  {"resources", jit::resources_json(kernel.resources())}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(manifest))).str();
}

Result<std::vector<std::string>> write(const std::string &directory, std::span<const Export> kernels) {
  // All is checked before anything is written.
  std::vector<Signature> signatures;
  std::set<std::string> names = {"nereid_aot", "nereid_aot_hip"};
  for (const Export &kernel : kernels) {
    NEREID_TRY(Signature signature, signature_of(kernel));
    if (!names.insert(signature.name).second)
      return user_error(fmt::format("two exports are called '{}'", signature.name),
                        "Give each a name of its own");
    signatures.push_back(std::move(signature));
  }
  if (const std::error_code failure = llvm::sys::fs::create_directories(directory))
    return environment_error(fmt::format("cannot create {}: {}", directory, failure.message()));
  const std::vector<File> files = files_of(directory, signatures);
  NEREID_CHECK(write_all(files));
  std::vector<std::string> written;
  for (const File &file : files)
    written.push_back(file.path);
  return written;
}

} // namespace nereid::aot
