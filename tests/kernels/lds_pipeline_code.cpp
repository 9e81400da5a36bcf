// What the loop of the large GEMM may cost, for the tiles of docs/codegen-quality.md.
#include <gtest/gtest.h>

#include "tests/kernels/backend.h"
#include "tests/kernels/machine_loop.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

struct Counts {
  unsigned matrix = 0, vector = 0, scalar = 0, barriers = 0, full_waits = 0, copies = 0;
  uint64_t bytes = 0;
};

Counts counts_of(const jit::MachineFunction &function) {
  Counts counts;
  const auto [begin, end] = matrix_loop(function);
  for (size_t i = begin; i < end; ++i) {
    const std::string &text = function.instructions[i].text;
    const auto starts = [&](const char *with) { return text.rfind(with, 0) == 0; };
    counts.bytes += function.instructions[i].size;
    counts.matrix += starts("v_mfma");
    counts.vector += starts("v_") && !starts("v_mfma");
    counts.barriers += starts("s_barrier");
    counts.full_waits += text.find("vmcnt(0)") != std::string::npos;
    counts.copies += starts("buffer_load") && text.find(" lds") != std::string::npos;
    counts.scalar += starts("s_") && !starts("s_wait") && !starts("s_barrier");
  }
  return counts;
}

void expect_clean(const Partial<TileConfig> &tile, unsigned stages, unsigned matrix) {
  const ProblemSize size{4096, 4096, 4096};
  const GemmConfig config = gemm_kernel.complete({.tile = tile}, size).value();
  const auto compiled = gemm_kernel.compile(config, size, test_device());
  ASSERT_TRUE(compiled.ok()) << compiled.error().text();
  const Counts counts = counts_of(jit::read_functions((*compiled)->code_object()).value().at(0));
  EXPECT_EQ(counts.matrix, matrix) << config_text(config);
  EXPECT_EQ(counts.vector, 0u) << config_text(config);
  EXPECT_EQ(counts.full_waits, 0u) << config_text(config);
  EXPECT_EQ(counts.barriers, stages) << config_text(config);
  EXPECT_GT(counts.copies, 0u) << config_text(config);
  EXPECT_LE(counts.scalar, 10 * stages + counts.copies) << config_text(config);
  EXPECT_LE(counts.bytes, 32u * 1024) << config_text(config);
  EXPECT_EQ((*compiled)->resources().scratch, 0u) << config_text(config);
}

Partial<TileConfig> block(int rows, int columns) { return {.block_m = rows, .block_n = columns}; }

} // namespace

TEST(LdsPipelineCode, SmallTilesHaveFourStagesInTheirLoop) {
  expect_clean(block(32, 128), 4, 32);
  expect_clean(block(64, 128), 4, 64);
  expect_clean(block(96, 128), 4, 96);
}

TEST(LdsPipelineCode, LargeTilesHaveTwoOrThree) {
  expect_clean(block(128, 128), 3, 96);
  expect_clean(block(128, 256), 3, 192);
  expect_clean(block(256, 256), 2, 128);
  expect_clean(block(160, 256), 3, 240);
  expect_clean(block(192, 256), 3, 288);
  expect_clean(block(128, 512), 2, 128);
}
