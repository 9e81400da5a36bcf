#include "sim/decode/disassembler.h"

#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

namespace nereid::sim {

namespace {

uint32_t word_at(std::span<const std::byte> code, size_t index) {
  uint32_t value = 0;
  if (code.size() >= 4 * index + 4)
    std::memcpy(&value, code.data() + 4 * index, 4);
  return value;
}

/// An SDWA word whose selections are reserved values: LLVM 22 decodes it and cannot print it.
bool has_reserved_selection(std::span<const std::byte> code) {
  const uint32_t first = word_at(code, 0), second = word_at(code, 1);
  if (first >> 31 || (first & 0x1FF) != 0xF9)
    return false;
  constexpr unsigned vopc = 0x3E, vop1 = 0x3F, reserved = 7;
  const unsigned encoding = first >> 25;
  const bool destination = encoding != vopc && ((second >> 8 & 7) == reserved || (second >> 11 & 3) == 3);
  const bool second_source = encoding != vop1 && (second >> 24 & 7) == reserved;
  return destination || second_source || (second >> 16 & 7) == reserved;
}

/// The word at which the product of an f8f6f4 MFMA begins, behind its scales if there are any; nothing for
/// other instructions.
std::optional<size_t> matrix_product(std::span<const std::byte> code) {
  const size_t word = word_at(code, 0) >> 16 == 0xD3AC ? 2 : 0;
  const uint32_t opcode = word_at(code, word) >> 16;
  return opcode == 0xD3AD || opcode == 0xD3AE ? std::optional(word) : std::nullopt;
}

/// An f8f6f4 MFMA with an A or B that is no vector register: no instruction, but LLVM 22 takes it and crashes
/// when the format fields make it look for a shorter register tuple.
bool is_matrix_of_constants(std::span<const std::byte> code) {
  constexpr uint32_t both_vectors = 0x20100;
  const std::optional<size_t> product = matrix_product(code);
  return product && (word_at(code, *product + 1) & both_vectors) != both_vectors;
}

/// The bytes of an f8f6f4 MFMA with its A and B moved to register 0; empty for other instructions. LLVM 22
/// looks for the eight registers of the widest format first and so does not know one whose four or six end
/// near v255.
std::vector<std::byte> matrix_of_low_registers(std::span<const std::byte> code) {
  const std::optional<size_t> product = matrix_product(code);
  if (!product || code.size() < 4 * *product + 8)
    return {};
  const auto size = static_cast<std::ptrdiff_t>(4 * *product + 8);
  std::vector<std::byte> low(code.begin(), code.begin() + size);
  // The register numbers go, not the bits that say vector register.
  const uint32_t sources = word_at(code, *product + 1) & ~0x1FEFFu;
  std::memcpy(low.data() + size - 4, &sources, 4);
  return low;
}

/// The register of A (side 0) or B (side 1) of an f8f6f4 MFMA.
uint16_t matrix_source(std::span<const std::byte> code, unsigned side) {
  const uint32_t sources = word_at(code, *matrix_product(code) + 1);
  const bool accumulation = sources >> (27 + side) & 1;
  return static_cast<uint16_t>((sources >> 9 * side & 0xFF) + (accumulation ? 256 : 0));
}

/// The scalar registers that have names of their own; LLVM may append a generation ("FLAT_SCR_LO_vi").
struct NamedRegister {
  std::string_view name;
  uint16_t first;
  uint8_t count;
};
constexpr NamedRegister named_registers[] = {
    {"FLAT_SCR_LO", 102, 1},   {"FLAT_SCR_HI", 103, 1}, {"FLAT_SCR", 102, 2},  {"XNACK_MASK_LO", 104, 1},
    {"XNACK_MASK_HI", 105, 1}, {"XNACK_MASK", 104, 2},  {"VCC_LO", 106, 1},    {"VCC_HI", 107, 1},
    {"VCC", 106, 2},           {"M0", 124, 1},          {"EXEC_LO", 126, 1},   {"EXEC_HI", 127, 1},
    {"EXEC", 126, 2},          {"SRC_VCCZ", 106, 2},    {"SRC_EXECZ", 126, 2},
};

struct RegisterFile {
  llvm::StringRef prefix;
  uint16_t base;
  bool vector;
};
constexpr RegisterFile register_files[] = {{"VGPR", 0, true}, {"AGPR", 256, true}, {"SGPR", 0, false}};

/// LLVM's name of a register ("VGPR7", "SGPR4_SGPR5", "VCC") as a range; nothing for what holds no data of
/// the program (modes, constants).
std::optional<RegisterRange> parse_range(llvm::StringRef name) {
  for (const RegisterFile &file : register_files) {
    llvm::StringRef number = name;
    unsigned first = 0;
    if (number.consume_front(file.prefix) && !number.consumeInteger(10, first))
      return RegisterRange{static_cast<uint16_t>(first + file.base),
                           static_cast<uint8_t>(name.count(file.prefix)), file.vector};
  }
  for (const NamedRegister &named : named_registers)
    if (name.starts_with(named.name))
      return RegisterRange{named.first, named.count, false};
  return std::nullopt;
}

} // namespace

struct Disassembler::State {
  llvm::Triple triple{"amdgcn-amd-amdhsa"};
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  std::map<unsigned, std::optional<RegisterRange>> ranges;

  std::optional<RegisterRange> range(llvm::MCRegister reg) {
    const auto found = ranges.find(reg.id());
    return found != ranges.end()
               ? found->second
               : ranges.emplace(reg.id(), parse_range(registers->getName(reg))).first->second;
  }

  bool decode(llvm::MCInst &inst, uint64_t &size, std::span<const std::byte> code, uint64_t address) {
    if (is_matrix_of_constants(code) || has_reserved_selection(code))
      return false;
    llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(code.data()), code.size());
    return disassembler->getInstruction(inst, size, bytes, address, llvm::nulls()) ==
           llvm::MCDisassembler::Success;
  }
};

Disassembler::Disassembler() : state_(std::make_unique<State>()) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  State &s = *state_;
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(s.triple, error);
  s.registers.reset(target->createMCRegInfo(s.triple));
  s.assembly.reset(target->createMCAsmInfo(*s.registers, s.triple, s.options));
  s.instructions.reset(target->createMCInstrInfo());
  s.subtarget.reset(target->createMCSubtargetInfo(s.triple, "gfx950", ""));
  s.context =
      std::make_unique<llvm::MCContext>(s.triple, s.assembly.get(), s.registers.get(), s.subtarget.get());
  s.disassembler.reset(target->createMCDisassembler(*s.subtarget, *s.context));
  s.printer.reset(target->createMCInstPrinter(s.triple, s.assembly->getAssemblerDialect(), *s.assembly,
                                              *s.instructions, *s.registers));
}

Disassembler::~Disassembler() = default;

Disassembler::Decoded Disassembler::decode(std::span<const std::byte> code, uint64_t address) {
  llvm::MCInst inst;
  uint64_t size = 0;
  const std::vector<std::byte> matrix = matrix_of_low_registers(code);
  if (!state_->decode(inst, size, matrix.empty() ? code : matrix, address) || size == 0)
    return {};
  std::string_view name = state_->printer->getMnemonic(inst).first;
  // What the printer calls the mnemonic may end in a fixed first operand ("off,").
  name = name.substr(0, name.find_first_of(" \t"));
  for (std::string_view suffix : {"_e32", "_e64", "_dpp", "_sdwa"})
    if (name.ends_with(suffix))
      name.remove_suffix(suffix.size());
  return {static_cast<unsigned>(size), name};
}

Effects Disassembler::effects(std::span<const std::byte> code, uint64_t address, const Operation &operation) {
  State &s = *state_;
  llvm::MCInst inst;
  uint64_t size = 0;
  const std::vector<std::byte> matrix = matrix_of_low_registers(code);
  if (!s.decode(inst, size, matrix.empty() ? code : matrix, address) || size == 0)
    return {};
  const llvm::MCInstrDesc &description = s.instructions->get(inst.getOpcode());
  Effects effects;
  const auto add = [&](llvm::MCRegister reg, bool write) {
    const std::string_view name = s.registers->getName(reg);
    if (name == "SCC" || name == "SRC_SCC")
      (write ? effects.writes_scc : effects.reads_scc) = true;
    else if (const auto range = s.range(reg))
      (write ? effects.writes : effects.reads).push_back(*range);
  };
  for (unsigned k = 0; k < inst.getNumOperands(); ++k)
    if (inst.getOperand(k).isReg() && inst.getOperand(k).getReg())
      add(inst.getOperand(k).getReg(), k < description.getNumDefs());
  if (!matrix.empty() && effects.reads.size() >= 2)
    for (unsigned side : {0u, 1u})
      effects.reads[side].first = matrix_source(code, side);
  // LLVM's encodings are shared with older generations, on which LDS accesses were bounded by M0.
  const bool uses_m0 = operation.memory.addressing != Addressing::Lds;
  const auto is_used = [&](llvm::StringRef name) {
    return name.starts_with("EXEC") ? operation.is_scalar() : name != "M0" || uses_m0;
  };
  for (llvm::MCPhysReg reg : description.implicit_uses())
    if (is_used(s.registers->getName(reg)))
      add(reg, false);
  for (llvm::MCPhysReg reg : description.implicit_defs())
    add(reg, true);
  return effects;
}

std::string Disassembler::text(std::span<const std::byte> code, uint64_t address) {
  llvm::MCInst inst;
  uint64_t size = 0;
  if (!state_->decode(inst, size, code, address))
    return "no gfx950 instruction";
  std::string text;
  llvm::raw_string_ostream stream(text);
  state_->printer->printInst(&inst, address, "", *state_->subtarget, stream);
  size_t start = text.find_first_not_of(" \t");
  if (start == std::string::npos)
    return text;
  text.erase(0, start);
  for (char &c : text)
    if (c == '\t')
      c = ' ';
  return text;
}

} // namespace nereid::sim
