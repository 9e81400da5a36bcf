// Disassembles code objects and reads their line tables, for people and for the check of waits.
#include "jit/compile/inspection.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "jit/compile/compiler.h"
#include "jit/compile/llvm_job.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"

namespace nereid::jit {
namespace {

using llvm::object::ObjectFile;

Result<std::unique_ptr<ObjectFile>> open_object(std::span<const uint8_t> code_object) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(code_object.data()), code_object.size());
  auto file = ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "code object"));
  if (!file)
    return nereid_error("the code object cannot be read: " + llvm::toString(file.takeError()));
  return std::move(*file);
}

template <class T> std::optional<T> good(llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  llvm::consumeError(value.takeError());
  return std::nullopt;
}

/// LLVM's parts of a disassembler for gfx950.
class Disassembler {
public:
  Disassembler() {
    initialize_amdgpu();
    std::string error;
    const llvm::Triple triple(target_triple);
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
    if (!target)
      return;
    registers_.reset(target->createMCRegInfo(triple));
    assembly_.reset(target->createMCAsmInfo(*registers_, triple, llvm::MCTargetOptions()));
    instructions_.reset(target->createMCInstrInfo());
    subtarget_.reset(target->createMCSubtargetInfo(triple, target_cpu, ""));
    context_ = std::make_unique<llvm::MCContext>(triple, assembly_.get(), registers_.get(), subtarget_.get());
    disassembler_.reset(target->createMCDisassembler(*subtarget_, *context_));
    printer_.reset(target->createMCInstPrinter(triple, assembly_->getAssemblerDialect(), *assembly_,
                                               *instructions_, *registers_));
  }
  bool ready() const { return disassembler_ && printer_; }

  /// The text of the instruction at the start of `bytes`, and its size; an unknown word is ".long".
  std::string text(llvm::ArrayRef<uint8_t> bytes, uint64_t address, uint64_t &size) const {
    llvm::MCInst instruction;
    std::string out;
    llvm::raw_string_ostream stream(out);
    if (disassembler_->getInstruction(instruction, size, bytes, address, llvm::nulls()) ==
        llvm::MCDisassembler::Success) {
      printer_->printInst(&instruction, address, "", *subtarget_, stream);
    } else {
      size = std::min<uint64_t>(4, bytes.size());
      uint32_t word = 0;
      std::copy_n(bytes.begin(), size, reinterpret_cast<uint8_t *>(&word));
      stream << fmt::format("\t.long 0x{:08x}", word);
    }
    std::replace(out.begin(), out.end(), '\t', ' ');
    return out.substr(std::min(out.find_first_not_of(' '), out.size()));
  }

private:
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembly_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

using Positions = std::map<uint64_t, SourcePosition>; ///< by the address where they start

Positions positions_of(const ObjectFile &file) {
  Positions positions;
  std::unique_ptr<llvm::DWARFContext> dwarf = llvm::DWARFContext::create(file);
  for (const auto &unit : dwarf->compile_units()) {
    const llvm::DWARFDebugLine::LineTable *table = dwarf->getLineTableForUnit(unit.get());
    if (!table)
      continue;
    for (const auto &row : table->Rows)
      positions[row.Address.Address] =
          row.EndSequence ? SourcePosition{} : SourcePosition{row.Line, row.Column};
  }
  return positions;
}

/// Calls visit(row, path) for the rows of all line tables.
template <class Visit> void for_each_line_row(const ObjectFile &file, Visit visit) {
  using Kind = llvm::DILineInfoSpecifier::FileLineInfoKind;
  std::unique_ptr<llvm::DWARFContext> dwarf = llvm::DWARFContext::create(file);
  for (const auto &unit : dwarf->compile_units()) {
    const llvm::DWARFDebugLine::LineTable *table = dwarf->getLineTableForUnit(unit.get());
    if (!table)
      continue;
    std::map<uint64_t, std::string> paths;
    const char *directory = unit->getCompilationDir();
    for (const auto &row : table->Rows) {
      const auto [path, is_new] = paths.try_emplace(row.File);
      if (is_new)
        table->getFileNameByIndex(row.File, directory ? directory : "", Kind::AbsoluteFilePath, path->second);
      visit(row, path->second);
    }
  }
}

/// The instructions of `code`, which lies at `start`.
std::vector<MachineInstruction> decode(llvm::ArrayRef<uint8_t> code, uint64_t start,
                                       const Disassembler &disassembler, const Positions &positions) {
  std::vector<MachineInstruction> instructions;
  for (uint64_t at = 0, size = 0; at < code.size(); at += size) {
    const uint64_t address = start + at;
    const auto next = positions.upper_bound(address);
    const SourcePosition position = next == positions.begin() ? SourcePosition{} : std::prev(next)->second;
    std::string text = disassembler.text(code.drop_front(at), address, size);
    size = std::max<uint64_t>(size, 1);
    instructions.push_back({address, size, std::move(text), position});
  }
  return instructions;
}

} // namespace

Result<std::map<uint64_t, unsigned>> read_lines(std::span<const uint8_t> code_object) {
  NEREID_TRY(const std::unique_ptr<ObjectFile> file, open_object(code_object));
  std::map<uint64_t, unsigned> lines;
  for (const auto &[address, position] : positions_of(*file))
    lines[address] = position.line;
  return lines;
}

Result<std::map<uint64_t, SourceLine>> read_source_lines(std::span<const uint8_t> code_object) {
  NEREID_TRY(const std::unique_ptr<ObjectFile> file, open_object(code_object));
  std::map<uint64_t, SourceLine> lines;
  for_each_line_row(*file, [&](const llvm::DWARFDebugLine::Row &row, const std::string &path) {
    lines[row.Address.Address] = row.EndSequence || row.Line == 0 ? SourceLine{} : SourceLine{path, row.Line};
  });
  return lines;
}

Result<std::vector<MachineFunction>> read_functions(std::span<const uint8_t> code_object) {
  NEREID_TRY(const std::unique_ptr<ObjectFile> file, open_object(code_object));
  const Positions positions = positions_of(*file);
  const Disassembler disassembler;
  if (!disassembler.ready())
    return nereid_error("this LLVM cannot disassemble for gfx950");

  std::vector<MachineFunction> functions;
  for (const auto &symbol : file->symbols()) {
    const auto type = good(symbol.getType());
    const auto name = good(symbol.getName());
    const auto section = good(symbol.getSection());
    const auto address = good(symbol.getAddress());
    if (!type || !name || !section || !address)
      return nereid_error("the code object's symbols cannot be read");
    if (*type != llvm::object::SymbolRef::ST_Function || *section == file->section_end())
      continue;
    const auto contents = good((*section)->getContents());
    if (!contents)
      return nereid_error("the code object's text cannot be read");
    const uint64_t offset = *address - (*section)->getAddress();
    const uint64_t bytes = llvm::object::ELFSymbolRef(symbol).getSize();
    const llvm::ArrayRef<uint8_t> code = llvm::arrayRefFromStringRef(contents->substr(offset, bytes));
    functions.push_back({name->str(), decode(code, *address, disassembler, positions)});
  }
  return functions;
}

Result<std::string> disassemble(std::span<const uint8_t> code_object,
                                const std::function<std::string(unsigned)> &describe) {
  NEREID_TRY(const std::vector<MachineFunction> functions, read_functions(code_object));
  std::string out;
  for (const MachineFunction &function : functions) {
    out += fmt::format("{}:\n", function.name);
    for (const MachineInstruction &instruction : function.instructions) {
      const std::string note = describe(instruction.position.line);
      if (note.empty())
        out += fmt::format("  {:06x}  {}\n", instruction.address, instruction.text);
      else
        out += fmt::format("  {:06x}  {:<56}  ; {}\n", instruction.address, instruction.text, note);
    }
  }
  return out;
}

} // namespace nereid::jit
