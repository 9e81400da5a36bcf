// Debug information of a kernel: only lines, of one file that does not exist.
#include "codegen/lower/debug_lines.h"

namespace nereid::codegen {

DebugLines::DebugLines(llvm::Function &kernel) : builder_(*kernel.getParent()) {
  const std::string name = kernel.getName().str();
  llvm::DIFile *file = builder_.createFile(name + ".tir", ".");
  builder_.createCompileUnit(llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C_plus_plus_20), file, "nereid",
                             true, "", 0, "", llvm::DICompileUnit::LineTablesOnly);
  subprogram_ = builder_.createFunction(file, name, name, file, 1,
                                        builder_.createSubroutineType(builder_.getOrCreateTypeArray({})), 1,
                                        llvm::DINode::FlagPrototyped, llvm::DISubprogram::SPFlagDefinition);
  kernel.setSubprogram(subprogram_);
}

llvm::DILocation *DebugLines::at(unsigned line, unsigned column) const {
  return llvm::DILocation::get(subprogram_->getContext(), line, column, subprogram_);
}

} // namespace nereid::codegen
