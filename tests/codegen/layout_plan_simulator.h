#pragma once

#include <gtest/gtest.h>

#include "codegen/convert/convert_plan.h"
#include "tests/codegen/layout_samples.h"

namespace nereid::codegen::samples {

/// The registers of a workgroup: values[wave][lane][register].
using Registers = std::vector<std::vector<std::vector<int64_t>>>;

constexpr int64_t poison = -1;

/// Every position holds the row-major number of its element.
inline Registers numbered(const LinearLayout &layout) {
  Registers values(layout.waves(), {layout.lanes(), std::vector<int64_t>(layout.registers())});
  for_each_position(layout, [&](Position p) {
    values[p.wave][p.lane][p.reg] = row_major(layout.shape(), layout.apply(p));
  });
  return values;
}

/// Carries out a plan's steps by the words of their definitions.
class PlanSimulator {
public:
  static Registers run(const ConversionPlan &plan, Registers values) {
    for (const ConversionStep &step : plan.steps)
      std::visit([&](const auto &s) { values = apply(s, values); }, step);
    return values;
  }

private:
  /// new value of (wave, lane, register) by `value`, for `registers` a lane.
  template <class Value> static Registers each(const Registers &old, size_t registers, Value value) {
    Registers result(old.size(), {old[0].size(), std::vector<int64_t>(registers)});
    for (uint32_t wave = 0; wave < old.size(); ++wave)
      for (uint32_t lane = 0; lane < old[wave].size(); ++lane)
        for (uint32_t reg = 0; reg < registers; ++reg)
          result[wave][lane][reg] = value(wave, lane, reg);
    return result;
  }

  static Registers apply(const RenameStep &s, const Registers &old) {
    return each(old, s.source.size(),
                [&](uint32_t w, uint32_t l, uint32_t r) { return old.at(w).at(l).at(s.source[r]); });
  }
  static Registers apply(const SelectStep &s, const Registers &old) {
    return each(old, old[0][0].size(), [&](uint32_t w, uint32_t l, uint32_t r) {
      const bool flip = (std::popcount(l & s.lane_mask) + std::popcount(w & s.wave_mask)) % 2;
      return old.at(w).at(l).at(flip ? r ^ s.reg_xor : r);
    });
  }
  static Registers apply(const ShuffleStep &s, const Registers &old) {
    return each(old, old[0][0].size(), [&](uint32_t w, uint32_t l, uint32_t r) {
      const uint32_t group = r >> s.pack_bits << s.pack_bits;
      EXPECT_EQ(s.source_lane(r, l, w), s.source_lane(group, l, w)) << "registers of a word part ways";
      return old.at(w).at(s.source_lane(r, l, w)).at(r);
    });
  }
  static Registers apply(const SwapStep &s, const Registers &old) {
    EXPECT_GE(s.reg_bit, s.pack_bits);
    return each(old, old[0][0].size(), [&](uint32_t w, uint32_t l, uint32_t r) {
      if ((r >> s.reg_bit & 1) == (l >> s.lane_bit & 1))
        return old.at(w).at(l).at(r);
      return old.at(w).at(l ^ 1u << s.lane_bit).at(r ^ 1u << s.reg_bit);
    });
  }
  static Registers apply(const LdsStep &s, const Registers &old) {
    // A wave that reads only its own writes must get by with a region of its own.
    std::vector<std::vector<int64_t>> memory(s.crosses_waves ? 1 : old.size());
    Registers result(old.size(), {old[0].size(), std::vector<int64_t>(s.registers, poison)});
    auto visit = [&](const LdsSide &side, unsigned pass, auto &&element) {
      for (const LdsAccess &access : side.accesses)
        for (uint32_t wave = 0; access.pass == pass && wave < old.size(); ++wave)
          for (uint32_t lane = 0; lane < old[wave].size(); ++lane) {
            const uint32_t offset = side.offset(access, lane, wave);
            EXPECT_EQ(access.registers.size() * s.element_bytes, side.access_bytes);
            EXPECT_EQ(offset * s.element_bytes % side.access_bytes, 0u) << "misaligned";
            for (uint32_t i = 0; i < access.registers.size(); ++i)
              element(wave, lane, access.registers[i], memory[s.crosses_waves ? 0 : wave].at(offset + i));
          }
    };
    for (unsigned pass = 0; pass < s.passes; ++pass) {
      for (auto &region : memory)
        region.assign(s.elements, poison);
      visit(s.write, pass, [&](uint32_t w, uint32_t l, uint32_t r, int64_t &cell) {
        const int64_t value = old.at(w).at(l).at(r);
        EXPECT_TRUE(cell == poison || cell == value) << "two elements at one place";
        cell = value;
      });
      visit(s.read, pass, [&](uint32_t w, uint32_t l, uint32_t r, int64_t &cell) {
        EXPECT_EQ(result.at(w).at(l).at(r), poison) << "read twice";
        result.at(w).at(l).at(r) = cell;
      });
    }
    return result;
  }
};

/// Plans, runs and compares with the wanted layout; returns the plan for a closer look.
inline ConversionPlan check_conversion(const LinearLayout &from, const LinearLayout &to,
                                       unsigned element_bits, const ConversionOptions &options = {}) {
  Result<ConversionPlan> plan = plan_conversion(from, to, element_bits, options);
  if (!plan.ok()) {
    ADD_FAILURE() << plan.error().text();
    return {};
  }
  EXPECT_EQ(PlanSimulator::run(*plan, numbered(from)), numbered(to))
      << "from " << from.text() << "\nto " << to.text() << "\n"
      << plan->text();
  EXPECT_LE(plan->lds_bytes(), options.lds_limit);
  return *plan;
}

} // namespace nereid::codegen::samples
