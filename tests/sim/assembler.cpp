#include "tests/sim/assembler.h"

#include <cstdio>
#include <fstream>
#include <mutex>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <lld/Common/Driver.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCAsmBackend.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCCodeEmitter.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCObjectWriter.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

LLD_HAS_DRIVER(elf)

namespace nereid::sim::test {

namespace {

const llvm::Triple triple("amdgcn-amd-amdhsa");

const llvm::Target *target() {
  static const llvm::Target *found = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    LLVMInitializeAMDGPUAsmPrinter();
    std::string error;
    return llvm::TargetRegistry::lookupTarget(triple, error);
  }();
  return found;
}

std::string assemble_object(const std::string &text) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text), llvm::SMLoc());
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers(target()->createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> assembly(target()->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCInstrInfo> instructions(target()->createMCInstrInfo());
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(target()->createMCSubtargetInfo(triple, "gfx950", ""));
  llvm::MCContext context(triple, assembly.get(), registers.get(), subtarget.get(), &sources, &options);
  std::unique_ptr<llvm::MCObjectFileInfo> objects(target()->createMCObjectFileInfo(context, true));
  context.setObjectFileInfo(objects.get());
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  std::unique_ptr<llvm::MCAsmBackend> backend(target()->createMCAsmBackend(*subtarget, *registers, options));
  auto writer = backend->createObjectWriter(stream);
  std::unique_ptr<llvm::MCCodeEmitter> emitter(target()->createMCCodeEmitter(*instructions, context));
  std::unique_ptr<llvm::MCStreamer> streamer(target()->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer), std::move(emitter), *subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(sources, context, *streamer, *assembly));
  std::unique_ptr<llvm::MCTargetAsmParser> parse_target(
      target()->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*parse_target);
  EXPECT_FALSE(parser->Run(false));
  return object.str().str();
}

struct TemporaryFile {
  std::string path;
  TemporaryFile() {
    llvm::SmallString<64> name;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("nereid-sim", "o", name));
    path = name.str().str();
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
};

std::vector<std::byte> link(const std::string &object) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  TemporaryFile input, output;
  std::ofstream(input.path, std::ios::binary) << object;
  std::vector<const char *> arguments = {"ld.lld",           "-shared", "--threads=1",
                                         input.path.c_str(), "-o",      output.path.c_str()};
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  lld::Result result = lld::lldMain(arguments, llvm::nulls(), stream, {{lld::Gnu, &lld::elf::link}});
  EXPECT_EQ(result.retCode, 0) << errors;
  std::ifstream file(output.path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto first = reinterpret_cast<const std::byte *>(bytes.data());
  return {first, first + bytes.size()};
}

} // namespace

std::vector<std::byte> assemble(const std::string &body, const KernelOptions &options) {
  return link(assemble_object(fmt::format(R"(
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.amdhsa_code_object_version 6
.text
.globl k
.p2align 8
.type k,@function
k:
{0}
  s_endpgm
.Lend:
.size k, .Lend-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_kernarg_size {1}
  .amdhsa_group_segment_fixed_size {2}
  .amdhsa_private_segment_fixed_size {3}
  .amdhsa_user_sgpr_count 2
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_sgpr_workgroup_id_z 1
  .amdhsa_system_vgpr_workitem_id 2
  .amdhsa_next_free_vgpr {4}
  .amdhsa_accum_offset {5}
  .amdhsa_next_free_sgpr 100
  .amdhsa_float_denorm_mode_32 3
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: {1}
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {2}
    .private_segment_fixed_size: {3}
    .wavefront_size: 64
    .sgpr_count: 100
    .vgpr_count: {4}
    .agpr_count: {6}
    .max_flat_workgroup_size: {7}
    .args:
      - .offset: 0
        .size: 8
        .value_kind: global_buffer
        .address_space: global
        .name: p
...
.end_amdgpu_metadata
)",
                                          body, options.kernarg_size, options.lds_size, options.scratch_size,
                                          options.vgprs + options.agprs, options.vgprs, options.agprs,
                                          options.max_workgroup_size)));
}

namespace {

/// What the code generator writes for a module: an object, or text.
std::string generate(const std::string &ir, llvm::CodeGenFileType type) {
  target();
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(ir, diagnostic, context);
  if (!module) {
    ADD_FAILURE() << diagnostic.getMessage().str() << " in line " << diagnostic.getLineNo();
    return {};
  }
  std::unique_ptr<llvm::TargetMachine> machine(target()->createTargetMachine(
      triple, "gfx950", "", {}, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  module->setDataLayout(machine->createDataLayout());
  llvm::SmallString<0> output;
  llvm::raw_svector_ostream stream(output);
  llvm::legacy::PassManager passes;
  EXPECT_FALSE(machine->addPassesToEmitFile(passes, stream, nullptr, type));
  passes.run(*module);
  return output.str().str();
}

} // namespace

std::vector<std::byte> compile_ir(const std::string &ir) {
  return link(generate(ir, llvm::CodeGenFileType::ObjectFile));
}

std::string compile_to_assembly(const std::string &ir, bool strength_reduction) {
  target();
  auto &options = llvm::cl::getRegisteredOptions();
  auto *disable = static_cast<llvm::cl::opt<bool> *>(options.lookup("disable-lsr"));
  disable->setValue(!strength_reduction);
  std::string text = generate(ir, llvm::CodeGenFileType::AssemblyFile);
  disable->setValue(false);
  return text;
}

std::vector<std::byte> assemble_text(const std::string &text) { return link(assemble_object(text)); }

CodeObject load(const std::vector<std::byte> &file) {
  auto code = CodeObject::load(file);
  if (!code)
    throw std::runtime_error(code.error().text());
  return *code;
}

std::string refusal(const std::vector<std::byte> &file) {
  auto code = CodeObject::load(file);
  EXPECT_FALSE(code.ok());
  if (code.ok())
    return "";
  EXPECT_EQ(code.error().owner, Owner::User);
  return code.error().message;
}

const char *const load_buffer = "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s8, s4\n"
                                "s_mov_b32 s9, s5\ns_movk_i32 s10, 4096\ns_mov_b32 s11, 0x00027000\n";

Report run_on_buffer(TestRun &run) {
  Memory memory;
  const uint64_t buffer = *memory.allocate(4096);
  EXPECT_TRUE(memory.fill(buffer, std::byte{0}, 4096).ok());
  run.argument(buffer);
  return run(memory);
}

void expect_fault(const Report &report, FaultKind kind, const char *at, const std::string &part) {
  if (!at) {
    EXPECT_FALSE(report.fault) << report.fault->error().text();
    return;
  }
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, kind);
  EXPECT_EQ(report.fault->instruction, at);
  EXPECT_NE(report.fault->text.find(part), std::string::npos) << report.fault->text;
}

TestRun &TestRun::argument(uint64_t value) {
  auto bytes = reinterpret_cast<const std::byte *>(&value);
  launch.kernarg.insert(launch.kernarg.end(), bytes, bytes + sizeof value);
  return *this;
}

Report TestRun::operator()(Memory &memory) const {
  auto report = run(code, memory, launch);
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text());
  return report.ok() ? *report : Report();
}

std::vector<uint32_t> run_lanes(const std::string &body, const std::vector<uint32_t> &inputs, unsigned first,
                                unsigned count) {
  return run_waves(body, {inputs}, first, count).front();
}

std::vector<std::vector<uint32_t>> run_waves(const std::string &body,
                                             const std::vector<std::vector<uint32_t>> &inputs, unsigned first,
                                             unsigned count) {
  Memory memory;
  const unsigned words = static_cast<unsigned>(inputs.front().size()), registers = words / 64;
  uint64_t from = *memory.allocate(inputs.size() * words * 4 + 4),
           to = *memory.allocate(inputs.size() * count * 256);
  for (size_t wave = 0; wave < inputs.size(); ++wave)
    EXPECT_TRUE(memory.write(from + wave * words * 4, inputs[wave].data(), words * 4).ok());
  std::string text = fmt::format("s_load_dwordx4 s[8:11], s[0:1], 0x0\nv_lshlrev_b32 v127, 2, v0\n"
                                 "s_waitcnt lgkmcnt(0)\ns_mul_i32 s14, s2, {}\ns_add_u32 s8, s8, s14\n"
                                 "s_addc_u32 s9, s9, 0\ns_mul_i32 s14, s2, {}\ns_add_u32 s10, s10, s14\n"
                                 "s_addc_u32 s11, s11, 0\n",
                                 words * 4, count * 256);
  for (unsigned k = 0; k < registers; ++k)
    text +=
        fmt::format("s_add_u32 s12, s8, {0}\ns_addc_u32 s13, s9, 0\nglobal_load_dword v{1}, v127, s[12:13]\n",
                    k * 256, k);
  text += "s_waitcnt vmcnt(0)\n" + body + "\ns_mov_b64 exec, -1\n";
  for (unsigned k = 0; k < count; ++k)
    text += fmt::format(
        "s_add_u32 s12, s10, {0}\ns_addc_u32 s13, s11, 0\nglobal_store_dword v127, v{1}, s[12:13]\n", k * 256,
        first + k);
  TestRun run(text);
  run.argument(from).argument(to);
  run.launch.block = {64, 1, 1};
  run.launch.grid = {static_cast<uint32_t>(inputs.size()), 1, 1};
  Report report = run(memory);
  EXPECT_FALSE(report.fault) << report.fault->error().text();
  std::vector<std::vector<uint32_t>> results(inputs.size(), std::vector<uint32_t>(count * 64));
  for (size_t wave = 0; wave < inputs.size(); ++wave)
    EXPECT_TRUE(memory.read(to + wave * count * 256, results[wave].data(), count * 256).ok());
  return results;
}

} // namespace nereid::sim::test
