// Inline assembly, with the wait states around it that LLVM leaves out.
#include "codegen/lower/inline_asm.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <llvm/IR/InlineAsm.h>

#include "codegen/lower/llvm_types.h"

namespace nereid::codegen {
namespace {

/// A transcendental's result may be read after one wait state (ISA 4.5), by other vector instructions.
constexpr std::string_view after_transcendental = "s_nop 0";
/// The result of a matrix instruction of 16 passes may be read after 20 (LLVM: GFX940_XDL_N_PassWriteVgpr).
constexpr std::string_view after_mfma = "s_nop 15\ns_nop 3";

constexpr std::array<std::string_view, 7> transcendentals = {"v_exp",  "v_log", "v_rcp", "v_rsq",
                                                             "v_sqrt", "v_sin", "v_cos"};

/// Whether a value may be in the very registers that a matrix instruction writes: no vector instruction
/// stands between. A dot's accumulator is added by the matrix instruction.
bool is_dot_itself(const FunctionIndex &index, ir::ValueId value) {
  const ir::Op *op = index.definition(value);
  while (op && (is_view(index, value) || op->opcode == ir::Opcode::Bitcast)) {
    value = op->operands[0];
    op = index.definition(value);
  }
  const bool keeps_registers =
      !op || !op->blocks.empty() || ir::is_dot(op->opcode) || op->opcode == ir::Opcode::Add;
  return keeps_registers && index.comes_from_dot(value);
}

std::string with_wait_states(const EmitContext &context, const ir::Op &op) {
  const FunctionIndex &index = context.plan.index;
  const std::string &text = op.string("asm");
  const bool reads_dot = std::any_of(op.operands.begin(), op.operands.end(),
                                     [&](ir::ValueId operand) { return is_dot_itself(index, operand); });
  std::string padded(reads_dot ? after_mfma : after_transcendental);
  padded += "\n" + text;
  if (std::any_of(transcendentals.begin(), transcendentals.end(),
                  [&](std::string_view name) { return text.find(name) != std::string::npos; }))
    padded.append("\n").append(after_transcendental);
  return padded;
}

} // namespace

llvm::Value *inline_asm(EmitContext &context, const ir::Op &op, const Registers &operands) {
  llvm::IRBuilder<> &builder = context.builder;
  std::vector<llvm::Type *> types;
  for (llvm::Value *operand : operands)
    types.push_back(operand->getType());
  auto *signature =
      llvm::FunctionType::get(llvm_type(builder.getContext(), context.type(op.result())), types, false);
  const std::string &constraints = op.string("constraints");
  if (llvm::Error wrong = llvm::InlineAsm::verify(signature, constraints))
    fail(user_error("inline_asm's constraints \"" + constraints +
                        "\" do not fit: " + llvm::toString(std::move(wrong)),
                    "give one output and one constraint for each operand, as LLVM's inline assembly has them",
                    context.function().location(op)));
  auto *code = llvm::InlineAsm::get(signature, with_wait_states(context, op), constraints, false);
  llvm::CallInst *call = builder.CreateCall(signature, code, operands);
  call->setDoesNotAccessMemory();
  return call;
}

} // namespace nereid::codegen
