// Stages of kernels that a user edited, and what is made of them.
#include "jit/override.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "dsl/ir/canonical.h"
#include "dsl/ir/parser.h"
#include "dsl/ir/printer.h"
#include "dsl/ir/verifier.h"
#include "jit/cache/digest.h"
#include "jit/compile/assembler.h"
#include "jit/compile/code_object_metadata.h"
#include "jit/compile/linker.h"
#include "jit/compile/llvm_guard.h"
#include "jit/verify/compile_and_verify.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace nereid::jit {
namespace {

std::string override_directory() {
  const char *directory = std::getenv("NEREID_OVERRIDE_DIR");
  return directory ? directory : "";
}

constexpr const char *remedy = "NEREID_OVERRIDE_DIR holds edited copies of what NEREID_DUMP_DIR received";

/// The files of a kernel by stage; nothing where there is none.
using StageFiles = std::array<std::optional<Override>, std::size(stage_extensions)>;

Result<std::optional<std::string>> content_of(const std::string &file) {
  llvm::sys::fs::file_status status;
  if (const std::error_code failed = llvm::sys::fs::status(file, status)) {
    if (failed == std::errc::no_such_file_or_directory)
      return std::optional<std::string>();
    return user_error(fmt::format("cannot read {}: {}", file, failed.message()), remedy);
  }
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return user_error(fmt::format("{} is not a regular file", file), remedy);
  auto bytes = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes)
    return user_error(fmt::format("cannot read {}: {}", file, bytes.getError().message()), remedy);
  return std::optional((*bytes)->getBuffer().str());
}

Result<StageFiles> files_of(const std::string &directory, const std::string &name, std::string_view key) {
  NEREID_CHECK(check_override_directory());
  StageFiles files;
  for (size_t i = 0; i < files.size(); ++i) {
    std::string file = fmt::format("{}/{}-{}{}", directory, name, key.substr(0, 12), stage_extensions[i]);
    NEREID_TRY(std::optional<std::string> content, content_of(file));
    if (content)
      files[i] = Override{static_cast<EditedStage>(i), std::move(file), std::move(*content)};
  }
  return files;
}

/// A kernel's stages as Nereid makes them.
struct PlainKernel {
  const ir::Function &function;
  std::string_view key;
  const Compiler &compiler;
  const DiskCache &disk;

  /// What a stage can be without an edit; what cannot be made is left out.
  std::vector<std::string> forms(EditedStage stage) const {
    std::vector<std::string> texts;
    const auto add = [&](const Result<std::string> &text) {
      if (text)
        texts.push_back(*text);
    };
    if (stage == EditedStage::Ir) {
      add(ir::print(function));
    } else if (stage == EditedStage::CodeObject) {
      add(code_object());
    } else {
      for (const Waits waits : {Waits::Counted, Waits::Everything}) {
        const ModuleMaker make = lowered(function, waits);
        add(stage == EditedStage::LlvmIr ? llvm_ir_text(make) : compiler.assembly(make));
      }
    }
    return texts;
  }

private:
  Result<std::string> code_object() const {
    std::optional<Binary> binary = disk.find(key);
    if (!binary) {
      JitTimes unused;
      NEREID_TRY(binary, compile_and_verify(compiler, function, unused));
    }
    return std::string(binary->code_object.begin(), binary->code_object.end());
  }
};

/// What is wrong with an edited file, at a line of it; 0: not known.
Error wrong(const Override &edited, const std::string &message, unsigned line) {
  const std::string what = line ? message : fmt::format("{}: {}", edited.file, message);
  return user_error(what, "It stands in NEREID_OVERRIDE_DIR", {line ? edited.file : "", line});
}

Result<OverriddenKernel> from_ir(const Override &edited, const ir::Function &original,
                                 const Compiler &compiler, JitTimes &times) {
  NEREID_TRY(ir::Function function, ir::parse(edited.content, edited.file));
  bool takes_the_same =
      function.name == original.name && function.arguments.size() == original.arguments.size();
  for (size_t i = 0; takes_the_same && i < function.arguments.size(); ++i)
    takes_the_same = function.type(function.arguments[i].value) == original.type(original.arguments[i].value);
  if (!takes_the_same)
    return wrong(edited, "the kernel has another name or other arguments than that which is launched", 1);
  function.argument_names = original.argument_names;
  function.host_functions = original.host_functions;
  if (const Status verified = ir::verify(function); !verified)
    return wrong(edited, verified.error().message, 0);
  auto canonical = std::make_shared<const ir::Function>(ir::canonicalize(function));
  NEREID_TRY(Binary binary, compile_and_verify(compiler, *canonical, times));
  return OverriddenKernel{std::move(canonical), std::move(binary)};
}

Result<Binary> from_llvm_ir(const Override &edited, const std::string &name, const Compiler &compiler,
                            JitTimes &times) {
  const ModuleMaker make = [&](llvm::LLVMContext &context) -> Result<std::unique_ptr<llvm::Module>> {
    llvm::SMDiagnostic diagnostic;
    std::unique_ptr<llvm::Module> module =
        llvm::parseAssembly(llvm::MemoryBufferRef(edited.content, edited.file), diagnostic, context);
    if (!module)
      return wrong(edited, diagnostic.getMessage().str(), static_cast<unsigned>(diagnostic.getLineNo()));
    std::string broken;
    llvm::raw_string_ostream stream(broken);
    if (llvm::verifyModule(*module, &stream))
      return wrong(edited, broken, 0);
    const llvm::Function *kernel = module->getFunction(name);
    if (!kernel || kernel->isDeclaration())
      return wrong(edited, fmt::format("it defines no function '{}'", name), 0);
    if (kernel->getCallingConv() != llvm::CallingConv::AMDGPU_KERNEL)
      return wrong(edited, fmt::format("its function '{}' is no amdgpu_kernel", name), 0);
    return module;
  };
  return compiler.compile(make, times);
}

/// What the assembler says first: "kernel.s:12:3: error: ...".
Error refused_by_assembler(const Override &edited, llvm::StringRef messages) {
  const llvm::StringRef first = messages.split('\n').first;
  unsigned line = 0;
  llvm::StringRef number = first.split(':').second;
  if (number.consumeInteger(10, line))
    return wrong(edited, first.str(), 0);
  return wrong(edited, first.split("error: ").second.str(), line);
}

Result<Binary> binary_of(const Override &edited, std::vector<uint8_t> code_object, const Compiler &compiler) {
  Result<Binary> binary = linked_binary(std::move(code_object), compiler);
  return binary ? std::move(binary) : wrong(edited, binary.error().message, 0);
}

Result<Binary> from_assembly(const Override &edited, const Compiler &compiler) {
  llvm::SmallVector<char, 0> object;
  std::string messages;
  if (const Status assembled =
          run_guarded("assembling", [&] { return assemble(edited.content, object, messages); });
      !assembled)
    return messages.empty() ? assembled.error() : refused_by_assembler(edited, messages);
  Result<std::vector<uint8_t>> linked = link_code_object({object.data(), object.size()});
  if (!linked)
    return wrong(edited, linked.error().message, 0);
  return binary_of(edited, *std::move(linked), compiler);
}

Result<Binary> from_code_object(const Override &edited, const Compiler &compiler) {
  return binary_of(edited, std::vector<uint8_t>(edited.content.begin(), edited.content.end()), compiler);
}

/// Where a launch puts the arguments: at multiples of their sizes.
std::vector<std::pair<uint32_t, uint32_t>> places_of(const ir::Function &function) {
  std::vector<std::pair<uint32_t, uint32_t>> places;
  uint32_t end = 0;
  for (const ir::Argument &argument : function.arguments) {
    const ir::Type &type = function.type(argument.value);
    const uint32_t size = type.pointer ? sizeof(uint64_t) : ir::byte_size(type.element);
    const uint32_t offset = (end + size - 1) / size * size;
    places.emplace_back(offset, size);
    end = offset + size;
  }
  return places;
}

/// What keeps a kernel from being launched in place of the function's own code; empty: nothing.
std::string misfit(const KernelMetadata &kernel, const ir::Function &function) {
  const std::array<uint32_t, 3> block{64 * static_cast<uint32_t>(function.options.waves), 1, 1};
  if (block[0] > kernel.max_workgroup_size || kernel.required_block.value_or(block) != block)
    return fmt::format("it is not compiled for {} work-items, which a launch has in a workgroup", block[0]);
  std::vector<std::pair<uint32_t, uint32_t>> places;
  for (const KernelArgument &argument : kernel.explicit_arguments())
    places.emplace_back(argument.offset, argument.size);
  return places == places_of(function) ? "" : "its arguments have other offsets or sizes than a launch gives";
}

/// Error (User) unless a launch finds the kernel in it, and gives it what it wants.
Status check_kernel(const Override &edited, const ir::Function &function, const Binary &binary) {
  const Result<CodeObjectMetadata> object = read_code_object(binary.code_object);
  if (!object)
    return wrong(edited, object.error().message, 0);
  const auto kernel =
      std::find_if(object->kernels.begin(), object->kernels.end(),
                   [&](const KernelMetadata &candidate) { return candidate.name == function.name; });
  if (kernel == object->kernels.end())
    return wrong(edited,
                 fmt::format("it has no kernel '{}', but '{}'", function.name, object->kernels.front().name),
                 0);
  const std::string why = misfit(*kernel, function);
  return why.empty() ? Status() : wrong(edited, fmt::format("kernel '{}': {}", function.name, why), 0);
}

} // namespace

Status check_override_directory() {
  const std::string directory = override_directory();
  if (directory.empty() || llvm::sys::fs::is_directory(directory))
    return {};
  return user_error(fmt::format("NEREID_OVERRIDE_DIR is '{}', which is no directory", directory), remedy);
}

bool overrides_asked_for() { return !override_directory().empty(); }

Result<std::optional<Override>> find_override(const ir::Function &function, std::string_view key,
                                              const Compiler &compiler, const DiskCache &disk) {
  NEREID_TRY(StageFiles files, files_of(override_directory(), function.name, key));
  const PlainKernel plain{function, key, compiler, disk};
  for (size_t i = files.size(); i-- > 0;) {
    if (!files[i])
      continue;
    const std::vector<std::string> forms = plain.forms(files[i]->stage);
    if (std::find(forms.begin(), forms.end(), files[i]->content) == forms.end())
      return std::move(files[i]);
  }
  return std::optional<Override>();
}

Result<OverriddenKernel> build_override(const Override &edited, std::shared_ptr<const ir::Function> function,
                                        const Compiler &compiler, JitTimes &times) {
  if (edited.stage == EditedStage::Ir) {
    NEREID_TRY(OverriddenKernel kernel, from_ir(edited, *function, compiler, times));
    kernel.binary.override_file = edited.file;
    return kernel;
  }
  NEREID_TRY(Binary binary, edited.stage == EditedStage::LlvmIr
                                ? from_llvm_ir(edited, function->name, compiler, times)
                            : edited.stage == EditedStage::Assembly ? from_assembly(edited, compiler)
                                                                    : from_code_object(edited, compiler));
  NEREID_CHECK(check_kernel(edited, *function, binary));
  binary.override_file = edited.file;
  return OverriddenKernel{std::move(function), std::move(binary)};
}

std::string override_key(std::string_view key, const Override &edited) {
  return hexadecimal(digest(
      {"nereid override 1", key, stage_extensions[static_cast<size_t>(edited.stage)], edited.content}));
}

} // namespace nereid::jit
