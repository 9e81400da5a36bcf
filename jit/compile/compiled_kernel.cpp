// What a kernel became, in every form that people and devices ask for.
#include "jit/compile/compiled_kernel.h"

#include <fmt/format.h>

#include "codegen/plan/kernel_plan.h"
#include "dsl/ir/printer.h"
#include "jit/compile/compiler.h"
#include "jit/compile/inspection.h"
#include "jit/compile/large_stack.h"

namespace nereid {

CompiledKernel::CompiledKernel(std::shared_ptr<const ir::Function> function, std::string config,
                               std::shared_ptr<const jit::Binary> binary, std::string key, JitTimes times,
                               CacheLevel cache)
    : function_(std::move(function)), config_(std::move(config)), binary_(std::move(binary)),
      key_(std::move(key)), times_(times), cache_(cache) {
  ops_.push_back(nullptr);
  ir::for_each_op(*function_, [&](const ir::Op &op, unsigned) { ops_.push_back(&op); });
}

CompiledKernel::~CompiledKernel() = default;

std::string CompiledKernel::ir() const { return ir::print(*function_); }

Result<std::string> CompiledKernel::plan() const {
  return jit::on_large_stack([&] { return jit::plan_text(*function_); });
}

Result<std::vector<Remark>> CompiledKernel::remarks() const {
  return jit::on_large_stack([&]() -> Result<std::vector<Remark>> {
    NEREID_TRY(const auto plan, codegen::plan_kernel(*function_));
    std::vector<Remark> remarks = plan->remarks();
    if (const std::string file = override_file(); !file.empty())
      remarks.insert(
          remarks.begin(),
          {RemarkKind::Overridden, {}, 0, file + " is taken in place of what the compiler makes", ""});
    return remarks;
  });
}

Result<std::string> CompiledKernel::llvm_ir() const {
  NEREID_CHECK(check_stages());
  return jit::on_large_stack([&] { return jit::llvm_ir_text(jit::lowered(*function_, waits())); });
}

Result<std::string> CompiledKernel::isa() const {
  NEREID_CHECK(check_stages());
  NEREID_TRY(const jit::Compiler *compiler, jit::chosen_compiler());
  return jit::on_large_stack([&] { return compiler->assembly(jit::lowered(*function_, waits())); });
}

Result<std::string> CompiledKernel::annotated_isa() const {
  if (!has_code())
    return user_error("kernel '" + name() + "' was built for the interpreter and has no code");
  const auto describe = [this](unsigned line) {
    SourceLine where = source_line(line);
    where.file.erase(0, where.file.find_last_of('/') + 1);
    return where.text();
  };
  return jit::on_large_stack([&] { return jit::disassemble(binary_->code_object, describe); });
}

SharedBytes CompiledKernel::code_object() const {
  return binary_ ? SharedBytes(binary_->code_object, binary_) : SharedBytes();
}

Resources CompiledKernel::resources() const { return binary_ ? binary_->resources : Resources(); }

std::string CompiledKernel::compiler() const { return binary_ ? binary_->compiler : std::string(); }

std::string CompiledKernel::override_file() const { return binary_ ? binary_->override_file : std::string(); }

bool CompiledKernel::comes_from_ir() const {
  const std::string file = override_file();
  return file.empty() || file.ends_with(".ir");
}

Status CompiledKernel::check_stages() const {
  if (comes_from_ir())
    return {};
  return user_error(fmt::format("the code of kernel '{}' comes from {}", name(), override_file()),
                    "annotated_isa() disassembles it");
}

jit::Waits CompiledKernel::waits() const { return binary_ ? binary_->waits : jit::Waits::Counted; }

SourceLine CompiledKernel::source_line(unsigned line) const {
  return line < ops_.size() && ops_[line] ? function_->location(*ops_[line]) : SourceLine();
}

unsigned CompiledKernel::line_at(uint64_t address) const {
  if (!has_code())
    return 0;
  const Result<std::map<uint64_t, unsigned>> lines =
      jit::on_large_stack([&] { return jit::read_lines(binary_->code_object); });
  if (!lines)
    return 0;
  auto next = lines->upper_bound(address);
  return next == lines->begin() ? 0 : std::prev(next)->second;
}

} // namespace nereid
