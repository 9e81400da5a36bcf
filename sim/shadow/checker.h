#pragma once

#include <memory>
#include <vector>

#include "sim/decode/taint_rule.h"
#include "sim/launch/launch_state.h"
#include "sim/shadow/wave.h"
#include "sim/state/checker.h"

namespace nereid::sim {

struct OperandBuffers;

/// The checks `undefined` and `nan_scale`: propagates shadow bits (sim/shadow/wave.h) from instruction to
/// instruction by their taint rules, and reports those that reach an address, a branch, EXEC or global
/// memory.
class ShadowChecker : public Checker {
public:
  ShadowChecker(LaunchState &state, bool undefined, bool nan_scale);

  std::unique_ptr<Checker> fork(LaunchState &copy) const override;

  void begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) override;
  void before(Wave &wave, const Instruction &instruction) override;
  void access(Wave &wave, const Instruction &instruction, const MemoryAccess &access) override;

private:
  /// One instruction of one wave.
  struct Step {
    Wave &wave;
    const Instruction &instruction;
    const TaintRule &rule;
    ShadowWave &shadow;

    const Operation &operation() const { return *instruction.operation; }
  };
  /// Shadow bits of all lanes, low and high words.
  struct LaneTaint {
    alignas(64) uint32_t word[2][lane_count] = {};
  };
  /// The lanes whose control operands are tainted, by plane.
  using ControlTaint = std::array<Lanes, shadow_plane_count>;
  /// By register of a matrix result.
  using MatrixTaint = std::array<Lanes, 32>;

  void before_indexed(const Step &step);
  // Instructions with taint in what they read.
  void propagate(const Step &step);
  void propagate_vector(const Step &step);
  void propagate_scalar(const Step &step);
  void vector_arithmetic(const Step &step);
  void vector_move(const Step &step);
  void vector_logic(const Step &step);
  void scalar_arithmetic(const Step &step);
  void scalar_move(const Step &step);
  void scalar_logic(const Step &step);
  void bit_test(const Step &step);
  void matrix(const Step &step);
  void branch_on_scc(const Step &step);
  void branch_on_vcc(const Step &step);
  void branch(const Step &step);

  /// Without taint in what is read: results have none.
  void define_results(const Step &step);
  /// The shadow bits of a lane's sources.
  LaneTaint gather(const Step &step, ShadowPlane plane);
  /// Gives them to the results in the active lanes.
  void put(const Step &step, ShadowPlane plane, const LaneTaint &taint);
  void put_mask(const Step &step, ShadowPlane plane, const LaneTaint &taint, const Lanes &mask);
  /// The instruction as a move executes it on the planes: control operands have the values of the wave.
  Instruction controlled_by_wave(const Step &step, OperandBuffers *constants);
  ControlTaint control_taint(const Step &step);
  /// Of a select the bits in which the two choices differ, all of other instructions.
  Lanes bits_that_depend_on_control(const Step &step);
  void taint_by_control(const Step &step, ShadowPlane plane, const Lanes &controlled, const Lanes &dependent);
  void put_scalar(const Step &step, ShadowPlane plane, uint64_t bits);
  void put_scc(const Step &step, ShadowPlane plane, bool tainted);
  void put_scc_of_value(const Step &step, ShadowPlane plane, uint64_t value, uint64_t bits);
  void refresh_results(const Step &step);
  bool any_scalar(const Step &step, ShadowPlane plane) const;
  bool reads_taint(const Step &step) const;
  bool has_nan_scale(const Step &step) const;
  void matrix_taint(const Step &step, ShadowPlane plane, MatrixTaint &out);

  // Memory.
  void give_memory(Wave &plane, ShadowPlane which, size_t scratch_offset);
  void begin_memory(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves);
  void load(const Step &step, const MemoryAccess &access);
  void store(const Step &step, const MemoryAccess &access);
  void atomic(const Step &step, const MemoryAccess &access);
  const Block *block_at(uint64_t address, unsigned bytes);
  /// The shadow bits of a lane's bytes, or null where none is set.
  std::byte *bits_at(const Step &step, const MemoryAccess &access, unsigned lane, unsigned offset,
                     unsigned bytes, ShadowPlane plane);
  bool is_untainted(const MemoryAccess &access, ShadowPlane plane);
  uint64_t tainted_lanes(const Step &step, const MemoryAccess &access, ShadowPlane plane);
  uint64_t tainted_data(const Step &step, ShadowPlane plane) const;
  void define_memory(const Step &step, const MemoryAccess &access, ShadowPlane plane);
  void run_memory(const Step &step, bool global);
  void taint_results(const Step &step, ShadowPlane plane, uint64_t lanes);
  /// Before the undefined bits of a byte of global memory are set.
  void expect_undefined(uint64_t address, unsigned bytes);
  void put_atomic(const Step &step, const MemoryAccess &access, unsigned lane, ShadowPlane plane,
                  bool tainted);
  bool report_data(const Step &step, const MemoryAccess &access, ShadowPlane plane);

  void check_exec(const Step &step);
  void check_addresses(const Step &step);
  void report_register(const Step &step, ShadowPlane plane, const char *use, unsigned reg, int lane,
                       uint32_t bits = ~uint32_t{0});
  void report_scalar(const Step &step, ShadowPlane plane, const char *use, unsigned reg);

  bool memory_uses(ShadowPlane plane) const { return memory_used_[index_of(plane)]; }

  LaunchState &state_;
  const TaintRules &rules_;
  const bool undefined_;
  const bool nan_scale_;
  std::vector<std::unique_ptr<ShadowWave>> waves_;
  std::array<Workgroup, shadow_plane_count> groups_;               ///< LDS of the planes
  std::array<std::vector<std::byte>, shadow_plane_count> scratch_; ///< private memory of the planes
  std::array<bool, shadow_plane_count> memory_used_{}; ///< LDS or private memory may have shadow bits set
  Memory::View global_bits_;                           ///< undefined bits of global memory
  bool has_global_bits_ = false;
  bool memory_ran_ = false; ///< the current instruction was executed on the planes
  const Block *recent_ = nullptr;
  Wave probe_; ///< finds values of scalar instructions; it has no vector registers
};

} // namespace nereid::sim
