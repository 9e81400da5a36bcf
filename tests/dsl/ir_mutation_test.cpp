#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "dsl/interpreter/interpreter.h"
#include "dsl/ir/canonical.h"
#include "dsl/ir/parser.h"
#include "dsl/ir/printer.h"
#include "dsl/ir/verifier.h"

namespace nereid::ir {
namespace {

constexpr const char *seed_text =
    R"(kernel @seed ( %0 : ptr<f32> { divisibility = 4 } , %1 : i32 ) options { waves = 4 , mfma = 16 , waves_per_eu = 0 } {
  %3 = constant {bits = 0} : i32
  %4 = constant {bits = 1} : i32
  %5 = constant {bits = 0x3f800000} : f32[4, 64]
  %6 = arange {start = 0} : i32[64]
  %7, %8 = for %3, %1, %4, %5, %4 {stages = 2} : f32[4, 64], i32 do (%9: i32, %10: f32[4, 64], %11: i32) {
    %12 = cast %10 : bf16[4, 64]
    %13 = permute %12 {order = [1, 0]} : bf16[64, 4]
    %14 = dot %12, %13 : f32[4, 4]
    %15, %16 = quantize %10 {format = "e2m1", rule = "even"} : u8[4, 32], u8[4, 2]
    %17 = permute %15 {order = [1, 0]} : u8[32, 4]
    %18 = dot_scaled %15, %16, %17, %16 {format_a = "e2m1", format_b = "e2m1"} : f32[4, 4]
    %19 = add %14, %18 : f32[4, 4]
    %20 = reduce_sum %19 {axis = 1} : f32[4]
    %21 = expand_dims %20 {axis = 1} : f32[4, 1]
    %22 = broadcast %21 : f32[4, 64]
    %23 = div %11, %9 : i32
    %24 = eq %9, %3 : i1
    %25 = if %24 : i32 then {
      yield %4 } else {
      yield %23 }
    yield %22, %25 }
  %26 = reshape %7 : f32[256]
  %27 = arange {start = 0} : i32[256]
  %28 = broadcast %0 : ptr<f32>[256]
  %29 = ptr_add %28, %27 : ptr<f32>[256]
  %30 = broadcast %8 : i32[256]
  %31 = lt %27, %30 : i1[256]
  %32 = load %29, %31, %26 : f32[256]
  store %29, %32, %31
}
)";

/// Words, and what stands between them.
std::vector<std::string> words_of(const std::string &text) {
  std::vector<std::string> words;
  for (char c : text) {
    const bool word = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%';
    if (!words.empty() && word &&
        (std::isalnum(static_cast<unsigned char>(words.back().back())) || words.back() == "%"))
      words.back() += c;
    else
      words.emplace_back(1, c);
  }
  return words;
}

/// What survives parsing and verification must survive all that comes after.
void check(const std::string &text, int &parsed, int &verified) {
  const Result<Function> function = parse(text);
  if (!function.ok()) {
    EXPECT_FALSE(function.error().message.empty());
    return;
  }
  ++parsed;
  const std::string printed = print(*function);
  const Result<Function> again = parse(printed);
  ASSERT_TRUE(again.ok()) << again.error().text() << printed;
  EXPECT_EQ(print(*again), printed);
  if (!verify(*function).ok())
    return;
  ++verified;
  const Function canonical = canonicalize(*function);
  const Status status = verify(canonical);
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(print(canonicalize(canonical)), print(canonical));
  std::vector<float> before(256, 1.0f), after = before;
  const auto run = [&](const Function &f, std::vector<float> &data) {
    HostMemory memory;
    EXPECT_TRUE(memory.add(data.data(), data.size() * 4).ok());
    const InterpretArgument arguments[] = {InterpretArgument::pointer(data.data()),
                                           InterpretArgument::i32(2)};
    return interpret(f, {1, 1, 1}, arguments, memory).ok();
  };
  if (canonical.arguments.size() == 2 && run(*function, before)) {
    EXPECT_TRUE(run(canonical, after)) << printed;
    EXPECT_EQ(std::memcmp(before.data(), after.data(), 1024), 0) << printed;
  }
}

TEST(Mutation, ChangedTextIsRefusedOrMeansTheSameEverywhere) {
  const std::vector<std::string> words = words_of(seed_text);
  std::mt19937 random(1);
  int parsed = 0, verified = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::string> changed = words;
    for (unsigned i = 0; i <= random() % 2; ++i) {
      const size_t at = random() % changed.size();
      const std::string &other = words[random() % words.size()];
      // Numbers and values stay small: a loop of 2^31 steps is no test.
      if (std::isspace(static_cast<unsigned char>(changed[at][0])) || changed[at] == "bits" ||
          changed[at].size() > 8)
        continue;
      changed[at] = random() % 8 == 0 ? "" : other;
    }
    std::string text;
    for (const std::string &word : changed)
      text += word;
    check(text, parsed, verified);
  }
  EXPECT_GT(parsed, 200);
  EXPECT_GT(verified, 50);
}

} // namespace
} // namespace nereid::ir
