// The parts of LLVM that make an assembler for gfx950, put together.
#include "jit/compile/assembler.h"

#include <memory>

#include "jit/compile/compiler.h"
#include "jit/compile/llvm_job.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::jit {
namespace {

/// An object has no more bytes: a directive can ask for any number of them.
constexpr size_t max_object_bytes = size_t{256} << 20;

/// Appends to a vector up to the bound, and ends the guarded run beyond it.
class BoundedStream : public llvm::raw_svector_ostream {
public:
  BoundedStream(llvm::SmallVectorImpl<char> &object, std::string &messages)
      : raw_svector_ostream(object), object_(object), messages_(messages) {}

private:
  void write_impl(const char *bytes, size_t size) override {
    if (size > max_object_bytes - object_.size()) {
      messages_ = "the object has more than " + std::to_string(max_object_bytes) + " bytes";
      llvm::report_fatal_error(llvm::Twine(messages_), /*gen_crash_diag=*/false);
    }
    object_.append(bytes, bytes + size);
  }

  llvm::SmallVectorImpl<char> &object_;
  std::string &messages_;
};

void append(const llvm::SMDiagnostic &message, void *messages) {
  llvm::raw_string_ostream stream(*static_cast<std::string *>(messages));
  message.print(nullptr, stream, /*ShowColors=*/false);
}

} // namespace

Status assemble(llvm::StringRef text, llvm::SmallVectorImpl<char> &object, std::string &messages) {
  initialize_amdgpu();
  const llvm::Triple triple(target_triple);
  const llvm::MCTargetOptions options;
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nereid_error("this LLVM has no AMDGPU target: " + error);

  llvm::SourceMgr sources;
  // The copy ends with a zero byte, by which the lexer knows the end.
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "kernel.s"), llvm::SMLoc());
  sources.setDiagHandler(append, &messages);
  const std::unique_ptr<llvm::MCRegisterInfo> registers(target->createMCRegInfo(triple));
  const std::unique_ptr<llvm::MCAsmInfo> assembly(target->createMCAsmInfo(*registers, triple, options));
  const std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, target_cpu, ""));
  llvm::MCContext context(triple, assembly.get(), registers.get(), subtarget.get(), &sources, &options);
  context.setDiagnosticHandler([&](const llvm::SMDiagnostic &message, bool, const llvm::SourceMgr &,
                                   std::vector<const llvm::MDNode *> &) { append(message, &messages); });
  const std::unique_ptr<llvm::MCObjectFileInfo> sections(
      target->createMCObjectFileInfo(context, /*PIC=*/false));
  context.setObjectFileInfo(sections.get());

  BoundedStream stream(object, messages);
  std::unique_ptr<llvm::MCAsmBackend> backend(target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(stream);
  std::unique_ptr<llvm::MCCodeEmitter> emitter(target->createMCCodeEmitter(*instructions, context));
  const std::unique_ptr<llvm::MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer), std::move(emitter), *subtarget));
  const std::unique_ptr<llvm::MCAsmParser> parser(createMCAsmParser(sources, context, *streamer, *assembly));
  const std::unique_ptr<llvm::MCTargetAsmParser> target_parser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*target_parser);
  if (parser->Run(/*NoInitialTextSection=*/false) || context.hadError())
    return nereid_error("assembling: " + messages, "Please report the kernel");
  return {};
}

} // namespace nereid::jit
