#pragma once

#include <memory>
#include <vector>

#include "sim/launch/launch_state.h"
#include "sim/ops/vector/lanes.h"
#include "sim/shadow/propagation.h"
#include "sim/shadow/wave.h"
#include "sim/state/checker.h"

namespace nereid::sim {

/// The checks `undefined` and `nan_scale`: follows marks on bits (sim/shadow_wave.h) from instruction to
/// instruction and reports those that reach an address, a branch, EXEC or global memory.
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
    const Flow &flow;
    ShadowWave &shadow;
  };
  /// Words of all lanes, low and high.
  struct Marks {
    alignas(64) uint32_t word[2][lane_count] = {};
  };

  void before_indexed(const Step &step);
  // Instructions with a mark in what they read.
  void follow(const Step &step);
  void vector_arithmetic(const Step &step);
  void vector_move(const Step &step);
  void vector_logic(const Step &step);
  void scalar_arithmetic(const Step &step);
  void scalar_move(const Step &step);
  void scalar_logic(const Step &step);
  void bit_test(const Step &step);
  void matrix(const Step &step);
  void branch(const Step &step);

  /// Without a mark in what is read: results have none.
  void define_results(const Step &step);
  /// Marks of a plane that a lane's sources have.
  Marks gather(const Step &step, Plane plane);
  /// Marks result words of active lanes.
  void put(const Step &step, Plane plane, const Marks &marks);
  void put_mask(const Step &step, Plane plane, const Marks &marks, const Lanes &mask);
  void steer(const Step &step, Plane plane, const Lanes &steered, const Lanes &differing);
  void put_scalar(const Step &step, Plane plane, uint64_t marks);
  void put_scc(const Step &step, Plane plane, bool marked);
  void put_nonzero(const Step &step, Plane plane, uint64_t value, uint64_t marks);
  void refresh_results(const Step &step);
  uint64_t scalar_marks(const Step &step, Plane plane, unsigned first, unsigned count) const;
  bool any_scalar(const Step &step, Plane plane) const;
  bool has_marks(const Step &step) const;
  bool has_nan_scale(const Step &step) const;

  // Memory.
  void give_memory(Wave &plane, unsigned number, size_t scratch_offset);
  void begin_memory(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves);
  void load(const Step &step, const MemoryAccess &access);
  void store(const Step &step, const MemoryAccess &access);
  void atomic(const Step &step, const MemoryAccess &access);
  const Block *block_at(uint64_t address, unsigned bytes);
  /// The marks on a lane's bytes, or null where there are none.
  std::byte *bits_at(const Step &step, const MemoryAccess &access, unsigned lane, unsigned offset,
                     unsigned bytes, unsigned plane);
  bool unmarked(const MemoryAccess &access, unsigned plane);
  uint64_t marked_lanes(const Step &step, const MemoryAccess &access, unsigned plane);
  uint64_t marked_data(const Step &step, unsigned plane) const;
  void define_memory(const Step &step, const MemoryAccess &access, unsigned plane);
  void run_memory(const Step &step, bool global);
  void mark_results(const Step &step, Plane plane, uint64_t lanes);
  bool report_data(const Step &step, const MemoryAccess &access, Plane plane);

  void check_exec(const Step &step);
  void check_addresses(const Step &step);
  void report_register(const Step &step, Plane plane, const char *use, unsigned reg, int lane,
                       uint32_t bits = ~uint32_t{0});
  void report_scalar(const Step &step, Plane plane, const char *use, unsigned reg);

  LaunchState &state_;
  const FlowTable &table_;
  const bool undefined_;
  const bool nan_scale_;
  std::vector<std::unique_ptr<ShadowWave>> waves_;
  std::array<Workgroup, plane_count> groups_;               ///< LDS of the planes
  std::array<std::vector<std::byte>, plane_count> scratch_; ///< private memory of the planes
  std::array<bool, plane_count> memory_used_{};             ///< LDS or private memory may have marks
  Memory::View global_bits_;                                ///< undefined bits of global memory
  bool has_global_bits_ = false;
  bool memory_ran_ = false; ///< the current instruction was executed on the planes
  const Block *recent_ = nullptr;
  Wave probe_; ///< finds values of scalar instructions; it has no vector registers
};

} // namespace nereid::sim
