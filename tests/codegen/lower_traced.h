#pragma once

#include <gtest/gtest.h>

#include "dsl/dsl.h"
#include "dsl/ir/parser.h"
#include "dsl/ir/printer.h"
#include "tests/codegen/lower_harness.h"

/// Kernels of the language, whose results a host reference knows.
namespace nereid::lowering_test {

using codegen::testing::Argument;
using codegen::testing::buffer;
using codegen::testing::Bytes;
using codegen::testing::expect_same;
using codegen::testing::Outcome;
using codegen::testing::Random;
using codegen::testing::run_interpreted;

/// A scalar argument; codegen::testing::i32 has the name of the element type.
inline Argument number(int32_t value) { return {value}; }

/// The shape of a tile, the axis that is worked along, and a number more.
struct TileConfig {
  int rows = 1, columns = 64, axis = 1, extra = 0, waves = 1;
  NEREID_CONFIG(TileConfig, rows, columns, axis, extra, waves)

  Tile<i32> offsets() const { return nereid::rows(rows) * columns + cols(columns); }
  size_t count() const { return static_cast<size_t>(rows) * static_cast<size_t>(columns); }
  /// The positions of the elements along the axis, line by line.
  std::vector<std::vector<size_t>> lines() const {
    std::vector<std::vector<size_t>> result(axis == 0 ? columns : rows);
    for (size_t r = 0; r < static_cast<size_t>(rows); ++r)
      for (size_t c = 0; c < static_cast<size_t>(columns); ++c)
        result[axis == 0 ? c : r].push_back(r * static_cast<size_t>(columns) + c);
    return result;
  }
};

/// The function of a kernel, which its text gives back to the letter; a failure is a failed test.
template <class Kernel, class Config> ir::Function traced(const Kernel &kernel, const Config &config) {
  Result<ir::Function> function = trace("kernel", kernel, config);
  EXPECT_TRUE(function.ok()) << function.error().text();
  if (!function.ok())
    return ir::Function();
  const std::string text = ir::print(*function);
  const Result<ir::Function> parsed = ir::parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.error().text();
  if (parsed.ok()) {
    EXPECT_EQ(ir::print(*parsed), text);
  }
  return *std::move(function);
}

/// Interpreter and compiled code leave the expected values in a buffer, and agree in all others.
template <class T>
void expect_values(const ir::Function &function, const std::vector<Argument> &arguments, size_t buffer,
                   const std::vector<T> &expected) {
  expect_same(function, {1, 1, 1}, arguments);
  const Result<Outcome> outcome = run_interpreted(function, {1, 1, 1}, arguments);
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  EXPECT_EQ(outcome->values<T>(buffer), expected);
}

} // namespace nereid::lowering_test
