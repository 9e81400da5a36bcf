#include "tests/dsl/interpreter_support.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace nereid {
namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

/// Loads a tile from the first buffer, runs `ops` from %in to %out, stores it to the second one.
template <class R, class T>
std::vector<R> transform(const std::string &in_type, const std::string &ops, const std::string &out_type,
                         std::vector<T> input, size_t out_count) {
  const auto element = [](const std::string &type) { return type.substr(0, type.find('[')); };
  const auto flat = [](size_t count) { return "[" + std::to_string(count) + "]"; };
  const std::string in = flat(input.size()), out = flat(out_count), t = element(in_type),
                    r = element(out_type);
  std::string text = "kernel @shape(%0: ptr<" + t + ">, %1: ptr<" + r + ">) options {waves = 1} {\n";
  text += "%10 = arange {start = 0} : i32" + in + "\n%11 = broadcast %0 : ptr<" + t + ">" + in + "\n";
  text += "%12 = ptr_add %11, %10 : ptr<" + t + ">" + in + "\n%13 = load %12 : " + t + in + "\n";
  text += "%20 = reshape %13 : " + in_type + "\n" + ops + "\n%31 = reshape %30 : " + r + out + "\n";
  text += "%40 = arange {start = 0} : i32" + out + "\n%41 = broadcast %1 : ptr<" + r + ">" + out + "\n";
  text += "%42 = ptr_add %41, %40 : ptr<" + r + ">" + out + "\nstore %42, %31\n}";
  std::vector<R> result(out_count);
  const Status status = run_text(text, {input, result});
  EXPECT_TRUE(status.ok()) << status.error().text();
  return result;
}

std::vector<int32_t> counting(size_t n) {
  std::vector<int32_t> values(n);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

using I32 = std::vector<int32_t>;
using F32 = std::vector<float>;

TEST(InterpreterShape, PermuteMovesDimensions) {
  const I32 out = transform<int32_t>("i32[2, 3, 4]", "%30 = permute %20 {order = [2, 0, 1]} : i32[4, 2, 3]",
                                     "i32[4, 2, 3]", counting(24), 24);
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < 3; ++c)
        EXPECT_EQ(out[static_cast<size_t>((a * 2 + b) * 3 + c)], (b * 3 + c) * 4 + a);
}

TEST(InterpreterShape, BroadcastRepeatsDimensionsOfOne) {
  EXPECT_EQ(transform<int32_t>("i32[2, 1, 2]", "%30 = broadcast %20 : i32[2, 3, 2]", "i32[2, 3, 2]",
                               counting(4), 12),
            (I32{0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3}));
  EXPECT_EQ(transform<int32_t>("i32[2, 1]", "%30 = broadcast %20 : i32[2, 3]", "i32[2, 3]", counting(2), 6),
            (I32{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(transform<int8_t>("i8", "%30 = broadcast %20 : i8[3]", "i8[3]", std::vector<int8_t>{7}, 3),
            (std::vector<int8_t>{7, 7, 7}));
}

TEST(InterpreterShape, SplitAndJoinPairUp) {
  EXPECT_EQ(transform<int32_t>("i32[3, 2]",
                               "%21, %22 = split %20 : i32[3], i32[3] %30 = join %22, %21 : i32[3, 2]",
                               "i32[3, 2]", counting(6), 6),
            (I32{1, 0, 3, 2, 5, 4}));
}

TEST(InterpreterShape, ExpandDimsAndReshapeKeepTheOrder) {
  EXPECT_EQ(transform<int32_t>("i32[6]",
                               "%21 = expand_dims %20 {axis = 0} : i32[1, 6] %30 = reshape %21 : i32[2, 3]",
                               "i32[2, 3]", counting(6), 6),
            counting(6));
}

TEST(InterpreterReduce, EveryAxis) {
  const I32 x = {3, -1, 2, 5, 0, 7}; // [3, 2]
  EXPECT_EQ(transform<int32_t>("i32[3, 2]", "%30 = reduce_sum %20 {axis = 0} : i32[2]", "i32[2]", x, 2),
            (I32{5, 11}));
  EXPECT_EQ(transform<int32_t>("i32[3, 2]", "%30 = reduce_sum %20 {axis = 1} : i32[3]", "i32[3]", x, 3),
            (I32{2, 7, 7}));
  EXPECT_EQ(transform<int32_t>("i32[3, 2]", "%30 = reduce_max %20 {axis = 0} : i32[2]", "i32[2]", x, 2),
            (I32{3, 7}));
  EXPECT_EQ(transform<int32_t>("i32[3, 2]", "%30 = reduce_min %20 {axis = 1} : i32[3]", "i32[3]", x, 3),
            (I32{-1, 2, 0}));
  EXPECT_EQ(transform<int32_t>("i32[3, 2]", "%30 = argmax %20 {axis = 0} : i32[2]", "i32[2]", x, 2),
            (I32{0, 2}));
  EXPECT_EQ(transform<int32_t>("i32[3, 2]", "%30 = cumsum %20 {axis = 0} : i32[3, 2]", "i32[3, 2]", x, 6),
            (I32{3, -1, 5, 4, 5, 11}));
  EXPECT_EQ(transform<int32_t>("i32[3, 2]", "%30 = cumsum %20 {axis = 1} : i32[3, 2]", "i32[3, 2]", x, 6),
            (I32{3, 2, 2, 7, 0, 7}));
  EXPECT_EQ((transform<uint8_t>("i1[2, 2]", "%30 = reduce_any %20 {axis = 1} : i1[2]", "i1[2]",
                                std::vector<uint8_t>{0, 0, 1, 0}, 2)),
            (std::vector<uint8_t>{0, 1}));
}

TEST(InterpreterReduce, NanIsTheMaximumAndTheFirstOfEqualsWins) {
  EXPECT_TRUE(std::isnan(transform<float>("f32[3]", "%30 = reduce_max %20 {axis = 0} : f32", "f32",
                                          F32{1, nan_value, 2}, 1)[0]));
  EXPECT_TRUE(std::isnan(transform<float>("f32[3]", "%30 = reduce_min %20 {axis = 0} : f32", "f32",
                                          F32{1, nan_value, 2}, 1)[0]));
  const auto arg_max = [](F32 x) {
    const std::string n = std::to_string(x.size());
    return transform<int32_t>("f32[" + n + "]", "%30 = argmax %20 {axis = 0} : i32", "i32", x, 1)[0];
  };
  EXPECT_EQ(arg_max({1, 5, 5, 2}), 1);
  EXPECT_EQ(arg_max({1, nan_value, 9, nan_value}), 1);
  EXPECT_EQ(arg_max({0.0f, -0.0f}), 0);
  EXPECT_EQ(arg_max({-0.0f, 0.0f}), 0);
}

TEST(InterpreterReduce, SmallFloatsSumInF32AndRoundOnce) {
  // 256 + 1 + 1 in bf16 steps stays 256; in f32 it is 258.
  EXPECT_EQ((transform<uint16_t>("bf16[3]", "%30 = reduce_sum %20 {axis = 0} : bf16", "bf16",
                                 std::vector<uint16_t>{0x4380, 0x3f80, 0x3f80}, 1)),
            (std::vector<uint16_t>{0x4381}));
}

TEST(InterpreterReduce, IntegerSumsWrap) {
  EXPECT_EQ((transform<int8_t>("i8[3]", "%30 = reduce_sum %20 {axis = 0} : i8", "i8",
                               std::vector<int8_t>{100, 100, 100}, 1)),
            (std::vector<int8_t>{44}));
}

} // namespace
} // namespace nereid
