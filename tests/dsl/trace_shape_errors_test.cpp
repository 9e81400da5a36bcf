#include "tests/dsl/trace_support.h"

namespace nereid::test {
namespace {

TEST(TraceShapeErrors, BroadcastNamesBothShapes) {
  EXPECT_REFUSED("add: the shapes [64] and [32] do not match", "Sizes must be equal",
                 in.x({64}) + in.x({32}));
  EXPECT_REFUSED("mul: the shapes [16, 4] and [16] do not match", "col(x)", in.x({16, 4}) * in.x({16}));
  EXPECT_REFUSED("mul: the shapes [4] and [2, 16, 8] do not match", "from the last dimension on",
                 in.x({4}) * in.x({2, 16, 8}));
  EXPECT_REFUSED("store: the shape [2, 4] does not broadcast to [4]", "size 1 are repeated",
                 store(in.p + arange(0, 4), in.x({2, 4})));
  EXPECT_REFUSED("lt: the shapes [8, 2] and [2, 8] do not match", "one of them 1",
                 in.i({8, 2}) < in.i({2, 8}));
  EXPECT_REFUSED("where: the shapes [8] and [4] do not match", "equal",
                 where(in.i({8}) < 3, in.x({8}), in.x({4})));
  EXPECT_REFUSED("fma: the shapes [8] and [2] do not match", "equal", fma(in.x({8}), in.x({2}), in.x({8})));
  EXPECT_REFUSED("join: the shapes [8] and [2] do not match", "equal", join(in.x({8}), in.x({2})));
  EXPECT_REFUSED("max: the shapes [8] and [3] do not match", "equal", max(in.x({8}), in.x({3})));
}

TEST(TraceShapeErrors, BroadcastTo) {
  EXPECT_REFUSED("broadcast: the shapes [16, 2] and [16, 4] do not match", "one of them 1",
                 broadcast(in.x({16, 2}), {16, 4}));
  EXPECT_REFUSED("broadcast: the shape [16, 4] does not broadcast to [16, 1]", "size 1 are repeated",
                 broadcast(in.x({16, 4}), {16, 1}));
  EXPECT_REFUSED("broadcast: the shape [4, 0] has a dimension of size 0", "at least 1",
                 broadcast(in.s, {4, 0}));
}

TEST(TraceShapeErrors, Sources) {
  EXPECT_REFUSED("arange(4, 4) is empty", "greater", arange(4, 4));
  EXPECT_REFUSED("arange(0, -3) is empty", "greater", arange(0, -3));
  EXPECT_REFUSED("arange(0, 0) is empty", "greater", rows(0));
  EXPECT_REFUSED("arange(0, -3) is empty", "greater", cols(-3));
  EXPECT_REFUSED("does not fit i32", "i64 offset", arange(0x7fffffff, 0x80000001));
  EXPECT_REFUSED("program_id: the grid has no axis 3", "0, 1 or 2", program_id(3));
  EXPECT_REFUSED("num_programs: the grid has no axis -1", "0, 1 or 2", num_programs(-1));
  EXPECT_REFUSED("has a dimension of size -1", "at least 1", zeros<f32>({-1, 4}));
  EXPECT_REFUSED("a tile of shape [2048, 1024] has more than 1048576 elements", "smaller tiles",
                 zeros<f32>({2048, 1024}));
}

TEST(TraceShapeErrors, Reshape) {
  EXPECT_REFUSED("reshape: the shapes [4, 4] and [8] have 16 and 8 elements", "number of elements",
                 reshape(in.x({4, 4}), {8}));
  EXPECT_REFUSED("goes through the odd factor 3 of dimension 0 of the result", "outermost part",
                 reshape(in.x({2, 48}), {96}));
  EXPECT_REFUSED("goes through the odd factor 3 of dimension 0 of the operand", "outermost part",
                 reshape(in.x({96}), {32, 3}));
  EXPECT_REFUSED("goes through the odd factor 3 of dimension 0 of the result", "outermost part",
                 reshape(in.x({16, 3}), {48}));
}

TEST(TraceShapeErrors, AxesAndOrders) {
  EXPECT_REFUSED("size: axis 2 does not exist in shape [4, 8]", "from -2 to 1", in.x({4, 8}).size(2));
  EXPECT_REFUSED("size: axis -3 does not exist in shape [4, 8]", "from -2 to 1", in.x({4, 8}).size(-3));
  EXPECT_REFUSED("size: axis 0 does not exist in shape []", "no axes", in.s.size(0));
  EXPECT_REFUSED("size: axis 1 does not exist in shape [4]", "from -1 to 0", Var(in.x({4})).size(1));
  EXPECT_REFUSED("reduce_sum: axis 2 does not exist in shape [4, 8]", "from -2 to 1", sum(in.x({4, 8}), 2));
  EXPECT_REFUSED("reduce_max: axis 0 does not exist in shape []", "no axes", reduce_max(in.s, 0));
  EXPECT_REFUSED("argmax: axis -3 does not exist", "from -2 to 1", argmax(in.x({4, 8}), -3));
  EXPECT_REFUSED("gather: axis 2 does not exist in shape [4, 8]", "from -2 to 1",
                 gather(in.x({4, 8}), in.i({4, 8}), 2));
  EXPECT_REFUSED("the index of gather: the shapes [2, 8] and [4, 8] do not match", "Sizes must be equal",
                 gather(in.x({4, 8}), in.i({2, 8}), 1));
  EXPECT_REFUSED("axis 1 does not exist in shape [8]", "from -1 to 0", flip(in.x({8}), 1));
  EXPECT_REFUSED("cumsum: axis 1 does not exist in shape [8]", "from -1 to 0", cumsum(in.i({8}), 1));
  EXPECT_REFUSED("expand_dims: axis 3 cannot be inserted into shape [4]", "from -2 to 1",
                 expand_dims(in.x({4}), 3));
  EXPECT_REFUSED("permute: the order [0, 0] is not a permutation of the 2 dimensions of shape [4, 8]",
                 "each dimension once", permute(in.x({4, 8}), {0, 0}));
  EXPECT_REFUSED("permute: the order [1, 0] is not a permutation of the 3 dimensions", "once",
                 trans(in.x({2, 4, 8})));
  EXPECT_REFUSED("split: the last dimension of shape [2, 4] is not 2", "Reshape", split(in.x({2, 4})));
}

TEST(TraceShapeErrors, Matrix) {
  EXPECT_REFUSED("dot: a of shape [16, 32] has K = 32, b of shape [64, 16] has K = 64", "trans(b)",
                 dot(in.b({16, 32}), in.b({64, 16})));
  EXPECT_REFUSED("dot: an operand has shape [32], not [M, K] or [K, N]", "rank 2",
                 dot(in.b({32}), in.b({32, 16})));
  EXPECT_REFUSED("dot: [2, 16, 32] and [32, 16] are not two batches of as many matrices", "[B, K, N]",
                 dot(in.b({2, 16, 32}), in.b({32, 16})));
  EXPECT_REFUSED("dot: [2, 16, 32] and [4, 32, 16] are not two batches of as many matrices", "[B, K, N]",
                 dot(in.x({2, 16, 32}), in.x({4, 32, 16})));
  EXPECT_REFUSED("dot: the batch of shape [3, 16, 32] has 3 matrices", "power of two",
                 dot(in.b({3, 16, 32}), in.b({3, 32, 16})));
  EXPECT_REFUSED("dot: a of shape [16, 32] has K = 32, b of shape [64, 16] has K = 64", "trans(b)",
                 dot(in.x({2, 16, 32}), in.x({2, 64, 16})));
  EXPECT_REFUSED("dot_scaled: [2, 16, 32] and [32, 16] are not two batches of as many matrices", "[B, K, N]",
                 dot_scaled(in.u({2, 16, 32}), in.u({2, 16, 1}), e4m3, in.u({32, 16}), in.u({16, 1}), e4m3));
  EXPECT_REFUSED(
      "dot_scaled: the batch of shape [3, 16, 32] has 3 matrices", "power of two",
      dot_scaled(in.u({3, 16, 32}), in.u({3, 16, 1}), e4m3, in.u({3, 32, 16}), in.u({3, 16, 1}), e4m3));
  EXPECT_REFUSED(
      "dot_scaled: a batch of shape [2, 16, 32] has scales of shape [16, 1]", "[B, M, K / 32]",
      dot_scaled(in.u({2, 16, 32}), in.u({16, 1}), e4m3, in.u({2, 32, 16}), in.u({2, 16, 1}), e4m3));
  EXPECT_REFUSED(
      "dot_scaled: a of shape [16, 64] has scales of shape [16, 2], wanted [16, 4]", "[M, K / 32]",
      dot_scaled(in.u({2, 16, 64}), in.u({2, 16, 2}), e2m1, in.u({2, 64, 16}), in.u({2, 16, 4}), e2m1));
  EXPECT_REFUSED("dot: the element type is fp8, it must be u8 (codes) or the element of e5m2", "Convert",
                 dot(in.x({16, 32}).to<fp8>(), e5m2, in.u({32, 16}), e5m2));
  EXPECT_REFUSED(
      "dot_scaled: a: the element type is bf8, it must be u8 (packed codes)", "Convert",
      dot_scaled(in.x({16, 32}).to<bf8>(), in.u({16, 1}), e4m3, in.u({32, 16}), in.u({16, 1}), e4m3));
  EXPECT_REFUSED("dot_scaled: a of shape [16, 64] has scales of shape [16, 2], wanted [16, 4]", "[M, K / 32]",
                 dot_scaled(in.u({16, 64}), in.u({16, 2}), e2m1, in.u({64, 16}), in.u({16, 4}), e2m1));
  EXPECT_REFUSED("dot_scaled: b of shape [64, 16] has scales of shape [4, 16], wanted [16, 4]", "[N, K / 32]",
                 dot_scaled(in.u({16, 64}), in.u({16, 4}), e2m1, in.u({64, 16}), in.u({4, 16}), e2m1));
  EXPECT_REFUSED("dot_scaled: a of shape [16, 64] has K = 64, b of shape [64, 16] has K = 128",
                 "packed along K",
                 dot_scaled(in.u({16, 64}), in.u({16, 2}), e4m3, in.u({64, 16}), in.u({16, 4}), e2m1));
  EXPECT_REFUSED("dot_scaled: a has 32 bytes of e2m3 along K, no whole groups of 32 values", "takes 24 bytes",
                 dot_scaled(in.u({16, 32}), in.u({16, 1}), e2m3, in.u({16, 16}), in.u({16, 1}), e2m1));
  EXPECT_REFUSED("dot_scaled: a has K = 16, not a multiple of 32", "Pad K",
                 dot_scaled(in.b({16, 16}), in.u({16, 16}), in.u({16, 1}), e2m1));
  EXPECT_REFUSED("quantize: the last dimension of shape [4, 48] is not a multiple of 32", "groups of 32",
                 quantize(in.x({4, 48}), e2m1));
  EXPECT_REFUSED("quantize: bf16 is not a microscaling format", "cast", quantize(in.x({32}), Format::BF16));
}

} // namespace
} // namespace nereid::test
