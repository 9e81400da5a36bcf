#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/code_object.h"
#include "sim/machine.h"
#include "sim/memory.h"

namespace nereid::sim::test {

/// What an assembled kernel declares in addition to its instructions.
struct KernelOptions {
  unsigned kernarg_size = 64;
  unsigned lds_size = 0;
  unsigned scratch_size = 0;
  unsigned vgprs = 128; ///< architectural ones, a multiple of 4
  unsigned agprs = 64;
  unsigned max_workgroup_size = 1024;
};

/// A linked code object with the kernel "k" made of gfx950 assembler text. At entry s[0:1] is the kernarg
/// address, s2, s3, s4 the workgroup, v0 the packed work-item. Fails the test on an assembler error.
std::vector<std::byte> assemble(const std::string &body, const KernelOptions &options = {});

/// A linked code object from LLVM IR, compiled for gfx950 at O3.
std::vector<std::byte> compile_ir(const std::string &ir);

/// The assembler text that LLVM makes of IR for gfx950 at O3, with or without the strength reduction of
/// loops.
std::string compile_to_assembly(const std::string &ir, bool strength_reduction = true);

/// A linked code object from the text of a whole assembler file.
std::vector<std::byte> assemble_text(const std::string &text);

/// Loads, or ends the test with an exception.
CodeObject load(const std::vector<std::byte> &file);

/// The message with which a file is refused; the user gave it, so the error is the user's.
std::string refusal(const std::vector<std::byte> &file);

/// A launch of the only kernel with arguments given as words.
struct TestRun {
  CodeObject code;
  Launch launch;

  explicit TestRun(const std::string &body, const KernelOptions &options = {})
      : code(load(assemble(body, options))) {}
  /// Appends a 64-bit argument.
  TestRun &argument(uint64_t value);
  Report operator()(Memory &memory) const;
};

/// Waits for the first argument, an address of 4096 bytes: s[4:5] is it, s[8:11] a descriptor of the bytes.
extern const char *const load_buffer;
/// Runs with the address of 4096 zero bytes as argument.
Report run_on_buffer(TestRun &run);

/// That the run ended with this fault at the instruction with that text, and that the fault says `part`. When
/// `at` is null: that the run had no fault.
void expect_fault(const Report &report, FaultKind kind, const char *at, const std::string &part);

/// Runs `body` in one wave and returns what it left in v[first .. first + count), register-major: result[r *
/// 64 + lane]. Before it runs, v[k] of lane l holds inputs[k * 64 + l]. The body may use s20 and up, v
/// registers below 100 and all accumulation registers.
std::vector<uint32_t> run_lanes(const std::string &body, const std::vector<uint32_t> &inputs, unsigned first,
                                unsigned count);

/// The same for many waves at once: each has its inputs and gets its result.
std::vector<std::vector<uint32_t>> run_waves(const std::string &body,
                                             const std::vector<std::vector<uint32_t>> &inputs, unsigned first,
                                             unsigned count);

} // namespace nereid::sim::test
