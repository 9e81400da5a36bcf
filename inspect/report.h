#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

/// What a compiled kernel is and what it does in a simulated launch, as data. The text, the JSON and the page
/// are three renderings of the same report (inspect/render/render.h); docs/inspect.md has the JSON.
namespace nereid::inspect {

/// A line of the user's source: index into Report::files, and the line from 1 on.
struct Place {
  int file = -1; ///< -1: not known
  unsigned line = 0;

  bool known() const { return file >= 0; }
  bool operator==(const Place &) const = default;
};

/// A source file that instructions come from.
struct SourceFile {
  std::string path;
  std::vector<std::string> lines; ///< empty: the file cannot be read here
};

/// A line of the tile IR or of the LLVM IR.
struct IrLine {
  std::string text;
  unsigned operation = 0; ///< of the tile IR, from 1 on; 0: none
  Place place;
};

/// What a global memory instruction asks for, summed over its executions by one workgroup.
struct GlobalAccess {
  uint64_t executed = 0;     ///< wave instructions
  uint64_t bytes = 0;        ///< that lanes ask for
  uint64_t lines = 0;        ///< distinct lines of 128 bytes in each instruction
  uint64_t fewest_lines = 0; ///< that could hold the distinct bytes
  bool writes = false;

  /// Lines of an instruction, mean.
  double lines_each() const { return executed ? static_cast<double>(lines) / double(executed) : 0; }
  /// Share of the lines that has to be touched, 0 to 1; 1 is fully coalesced.
  double coalescing() const { return lines ? static_cast<double>(fewest_lines) / double(lines) : 1; }
};

/// What an LDS instruction does, summed over its executions by one workgroup.
struct LdsAccess {
  uint64_t executed = 0;      ///< wave instructions
  uint64_t bytes = 0;         ///< that lanes move
  uint64_t clocks = 0;        ///< of the banks
  uint64_t free_clocks = 0;   ///< that the same accesses would take without a conflict
  uint64_t first = ~0ull;     ///< byte of the workgroup's LDS
  uint64_t end = 0;           ///< behind the last byte
  bool writes = false;        ///< else it reads
  unsigned lane_bytes = 0;    ///< that a lane moves at a time
  unsigned banks = 64;        ///< of a word, over which the lanes are served: 64 or 32
  std::vector<int64_t> lanes; ///< byte address of each lane in the first execution; -1: inactive

  uint64_t conflict_clocks() const { return clocks - free_clocks; }
};

/// One machine instruction.
struct Instruction {
  uint64_t address = 0;
  std::string text;
  std::string kind;       ///< "mfma", "valu", "salu", "smem", "lds", "vmem_load", ...: kinds() of render.h
  unsigned operation = 0; ///< of the tile IR that it comes from; 0: not known
  Place place;
  int target = -1; ///< index of the instruction that it branches to
  /// Registers that hold a value which is read later, before it: architected and accumulation vector
  /// registers, scalar registers.
  unsigned live_vgpr = 0, live_agpr = 0, live_sgpr = 0;
  double executed = 0;                  ///< by a wave, mean; 0 without a run
  double issue_clocks = 0;              ///< in which it occupies its wave, all executions of a wave, mean
  std::map<std::string, double> stalls; ///< clocks that a wave waits before it, by reason, mean
  std::optional<GlobalAccess> global;
  std::optional<LdsAccess> lds;

  double stall_clocks() const {
    double sum = 0;
    for (const auto &[reason, clocks] : stalls)
      sum += clocks;
    return sum;
  }
};

/// A loop of the machine code: a backward branch and what lies before it down to its target.
struct Loop {
  unsigned first = 0, last = 0;        ///< indices of its first instruction and of the branch
  double iterations = 0;               ///< of a wave, mean; 0 without a run
  std::map<std::string, unsigned> mix; ///< its instructions by kind
};

/// One of the things that bound how many waves a SIMD holds.
struct OccupancyLimit {
  std::string what;   ///< "vector registers", "LDS", "wave slots"
  unsigned waves = 0; ///< a SIMD
  std::string detail; ///< "136 of 512 registers a wave"
  std::string remedy; ///< what the next step takes; may be empty
  unsigned next = 0;  ///< the most of the resource, in its unit, with which more waves fit; 0: none
};

/// Waves that run at once.
struct Occupancy {
  unsigned waves = 0; ///< a SIMD, 0 to 8
  unsigned waves_of_workgroup = 0;
  std::vector<OccupancyLimit> limits; ///< the tightest first
};

/// Registers and memory by the code object's metadata.
struct CodeResources {
  unsigned vgpr = 0, agpr = 0, sgpr = 0; ///< vgpr: both kinds of vector registers
  unsigned lds = 0;                      ///< bytes a workgroup
  unsigned scratch = 0;                  ///< bytes a lane
  unsigned spills = 0;
};

/// Bytes that a launch moves into or out of one level of memory.
struct Traffic {
  std::string level; ///< "LDS", "L2", "MALL", "HBM"
  double bytes = 0;
  double us = 0; ///< that these bytes take at the level's peak rate
};

/// One issue of an instruction by a wave, in core clocks from the first of the timeline.
struct Issue {
  unsigned instruction = 0;
  unsigned wave = 0;   ///< of the workgroup
  uint32_t ready = 0;  ///< the wave could go on
  uint32_t issue = 0;  ///< the instruction issues; from `ready` until then the wave waits
  uint32_t end = 0;    ///< the wave can go on
  uint32_t done = 0;   ///< its memory access is complete; 0: it has none
  unsigned reason = 0; ///< of the wait, index into Run::reasons
};

/// A simulated launch: nothing here is measured.
struct Run {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::string caches; ///< "cold", "warm", "rotating"
  double us = 0;
  double cycles_per_workgroup = 0;
  std::string limit;                    ///< what takes most of the time
  std::map<std::string, double> stalls; ///< share of the waves' time by reason
  std::vector<Traffic> traffic;
  std::vector<std::string> reasons;
  std::vector<Issue> timeline; ///< of one workgroup, in order of issue: from before the hot loop on
  bool timeline_is_cut = false;
  std::string operands; ///< what the buffers held
};

/// A layout as its bases: docs/layouts.md.
struct LayoutFacts {
  std::string name; ///< "%30", "A operand"
  std::string type; ///< "f32[16, 32]"
  std::string text;
  Place place;
  std::vector<int64_t> shape;
  /// For registers, lanes and waves: the coordinates that each bit of the position flips; all 0: a broadcast.
  std::array<std::vector<std::vector<uint32_t>>, 3> bases;
  /// An odd factor of registers (0) or waves (2) along a dimension, -1: broadcast.
  struct Repeat {
    unsigned space = 0;
    unsigned count = 1;
    int dim = -1;
  };
  std::vector<Repeat> repeats;
};

/// A matrix product and the instruction that computes it.
struct DotFacts {
  Place place;
  std::string text;                  ///< "dot_scaled 16 x 32"
  std::string instruction;           ///< "16x16x128 llvm.amdgcn.mfma..."
  std::vector<LayoutFacts> operands; ///< of one instruction: A, B, result
};

/// A remark of the code generator.
struct RemarkFacts {
  std::string kind, message, remedy;
  Place place;
};

/// A config that the tuner tried.
struct TunedConfig {
  std::string config;
  std::optional<double> figure; ///< in Tuning::unit, less is better
  std::string rejected;         ///< why it may not win
  unsigned vgpr = 0, lds = 0, occupancy = 0, launches = 0;
  bool winner = false;
};

/// All configs of one key in a tuning table.
struct Tuning {
  std::string kernel, device, key, unit, ranking, caches;
  std::vector<TunedConfig> configs; ///< with figures first, the best first
};

/// Everything that is known of one kernel.
struct Report {
  std::string kernel;
  std::string origin; ///< "library kernel", "kernel", "code object", "launch file"
  std::string config, compiler, key;
  CodeResources resources;
  Occupancy occupancy;
  std::vector<SourceFile> files;
  std::vector<IrLine> tile_ir, llvm_ir; ///< empty for code that Nereid did not make
  std::string plan;
  std::vector<RemarkFacts> remarks;
  std::vector<LayoutFacts> layouts;
  std::vector<DotFacts> dots;
  std::vector<Instruction> code;
  std::vector<Loop> loops; ///< outer ones before inner ones
  int hot_loop = -1;       ///< index into loops
  std::optional<Run> run;
  std::vector<Tuning> tuning;
  std::vector<std::string> notes; ///< what the report lacks and why
};

} // namespace nereid::inspect
