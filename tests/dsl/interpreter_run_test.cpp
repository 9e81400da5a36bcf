#include "tests/dsl/interpreter_support.h"

#include <numeric>

namespace nereid {
namespace {

constexpr const char *add_text =
    R"(kernel @add(%0: ptr<f32>, %1: ptr<f32>, %2: ptr<f32>, %3: i32) options {waves = 4} {
  %4 = program_id {axis = 0} : i32
  %5 = constant {bits = 64} : i32
  %6 = mul %4, %5 : i32
  %7 = broadcast %6 : i32[64]
  %8 = arange {start = 0} : i32[64]
  %9 = add %7, %8 : i32[64]
  %10 = broadcast %3 : i32[64]
  %11 = lt %9, %10 : i1[64]
  %12 = broadcast %0 : ptr<f32>[64]
  %13 = ptr_add %12, %9 : ptr<f32>[64]
  %14 = load %13, %11 : f32[64]
  %15 = broadcast %1 : ptr<f32>[64]
  %16 = ptr_add %15, %9 : ptr<f32>[64]
  %17 = load %16, %11 : f32[64]
  %18 = add %14, %17 : f32[64]
  %19 = broadcast %2 : ptr<f32>[64]
  %20 = ptr_add %19, %9 : ptr<f32>[64]
  store %20, %18, %11
})";

struct Add {
  std::vector<float> x, y, z;
  explicit Add(size_t n) : x(n), y(n), z(n, -1.0f) {
    std::iota(x.begin(), x.end(), 0.0f);
    std::fill(y.begin(), y.end(), 0.5f);
  }
  Status run(const ir::Function &function, int32_t n, uint32_t programs, unsigned threads = 1) {
    HostMemory memory;
    EXPECT_TRUE(memory.add(x.data(), x.size() * 4, "x").ok());
    EXPECT_TRUE(memory.add(y.data(), y.size() * 4, "y").ok());
    EXPECT_TRUE(memory.add(z.data(), z.size() * 4, "z").ok());
    const InterpretArgument arguments[] = {InterpretArgument::pointer(x.data()),
                                           InterpretArgument::pointer(y.data()),
                                           InterpretArgument::pointer(z.data()), InterpretArgument::i32(n)};
    InterpretOptions options;
    options.threads = threads;
    return interpret(function, {programs, 1, 1}, arguments, memory, options);
  }
};

TEST(Interpreter, VectorAddWithAMaskedTail) {
  for (unsigned threads : {1u, 3u}) {
    Add add(200);
    const Status status = add.run(kernel_of(add_text), 197, 4, threads);
    ASSERT_TRUE(status.ok()) << status.error().text();
    for (size_t i = 0; i < 200; ++i)
      EXPECT_EQ(add.z[i], i < 197 ? static_cast<float>(i) + 0.5f : -1.0f);
  }
}

TEST(Interpreter, AnAccessOutsideNamesPlaceProgramElementAndNeighbour) {
  ir::Function function = kernel_of(add_text);
  function.locations.push_back({"user.cpp", 7});
  for (ir::Op &op : function.body.ops)
    op.location = op.opcode == ir::Opcode::Load ? 1 : 0;
  Add add(200);
  for (unsigned threads : {1u, 4u}) {
    const Status status = add.run(function, 300, 5, threads);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().owner, Owner::User);
    EXPECT_EQ(status.error().where.text(), "user.cpp:7");
    EXPECT_NE(status.error().message.find("kernel add, program (3, 0, 0), load: element [8]: 4 bytes at 0x"),
              std::string::npos)
        << status.error().message;
    EXPECT_NE(status.error().message.find("0 bytes past the end of the nearest, allocation 'x' at 0x"),
              std::string::npos)
        << status.error().message;
    EXPECT_NE(status.error().message.find("of 800 bytes"), std::string::npos);
  }
}

TEST(Interpreter, ArgumentsMustFitTheFunction) {
  Add add(64);
  const ir::Function function = kernel_of(add_text);
  HostMemory memory;
  const InterpretArgument pointer = InterpretArgument::pointer(add.x.data());
  const InterpretArgument few[] = {pointer};
  const InterpretArgument wrong[] = {pointer, pointer, pointer, InterpretArgument::f32(1)};
  EXPECT_EQ(interpret(function, {1, 1, 1}, few, memory).error().message,
            "kernel add takes 4 arguments, not 1");
  EXPECT_EQ(interpret(function, {1, 1, 1}, wrong, memory).error().message,
            "kernel add: argument 3 is not i32");
}

TEST(Interpreter, ArgumentsMustKeepWhatTheKernelWasSpecialisedFor) {
  ir::Function function =
      kernel_of("kernel @f(%0: i32 {divisibility = 16}, %1: i64 {constant = 3}, %2: ptr<u8> "
                "{divisibility = 16}) options {waves = 1} {}");
  function.argument_names = {"m", "k", "p"};
  HostMemory memory;
  const auto run = [&](int32_t m, int64_t k, uint64_t p) {
    const InterpretArgument arguments[] = {InterpretArgument::i32(m), InterpretArgument::i64(k),
                                           InterpretArgument::pointer(p)};
    return interpret(function, {1, 1, 1}, arguments, memory);
  };
  EXPECT_TRUE(run(-32, 3, 0x1000).ok());
  EXPECT_EQ(run(8, 3, 0x1000).error().message,
            "kernel f: argument 'm' is not a multiple of 16, for which the kernel was specialised");
  EXPECT_EQ(run(16, 4, 0x1000).error().message,
            "kernel f: argument 'k' is 4, but the kernel was specialised for 3");
  EXPECT_EQ(run(16, 3, 0x1008).error().message,
            "kernel f: argument 'p' is not a multiple of 16, for which the kernel was specialised");
}

TEST(Interpreter, ProgramsSeeTheirIdsAndTheGrid) {
  std::vector<int32_t> out(2 * 3 * 4, -1);
  const Status status = run_text(R"(kernel @ids(%0: ptr<i32>) options {waves = 1} {
  %1 = program_id {axis = 0} : i32
  %2 = program_id {axis = 1} : i32
  %3 = program_id {axis = 2} : i32
  %4 = num_programs {axis = 0} : i32
  %5 = num_programs {axis = 1} : i32
  %6 = mul %3, %5 : i32
  %7 = add %6, %2 : i32
  %8 = mul %7, %4 : i32
  %9 = add %8, %1 : i32
  %10 = ptr_add %0, %9 : ptr<i32>
  store %10, %9
})",
                                 {out}, {4, 3, 2});
  ASSERT_TRUE(status.ok()) << status.error().text();
  for (int32_t i = 0; i < 24; ++i)
    EXPECT_EQ(out[static_cast<size_t>(i)], i);
}

TEST(Interpreter, AGridThatCannotBeCountedIsRefused) {
  const ir::Function function = kernel_of("kernel @f() options {waves = 1} {}");
  const HostMemory memory;
  const Status status = interpret(function, {1u << 31, 1u << 31, 4}, {}, memory);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "kernel f: the grid of 2147483648 x 2147483648 x 4 programs has more than 2^64");
}

TEST(Interpreter, LoopsCarryValuesAndSwapThem) {
  std::vector<int32_t> out(3, -1);
  const Status status = run_text(R"(kernel @fibonacci(%0: ptr<i32>) options {waves = 1} {
  %1 = constant {bits = 0} : i32
  %2 = constant {bits = 1} : i32
  %3 = constant {bits = 10} : i32
  %4, %5, %6 = for %1, %3, %2, %1, %2, %1 : i32, i32, i32 do (%7: i32, %8: i32, %9: i32, %10: i32) {
    %11 = add %8, %9 : i32
    %12 = add %10, %7 : i32
    yield %9, %11, %12 }
  %13 = ptr_add %0, %2 : ptr<i32>
  %14 = ptr_add %13, %2 : ptr<i32>
  store %0, %4
  store %13, %5
  store %14, %6
})",
                                 {out});
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(out, (std::vector<int32_t>{55, 89, 45}));
}

std::string loop_text(const std::string &element, int64_t first, int64_t last, int64_t step) {
  const auto constant = [&](const char *name, int64_t value) {
    const auto bits = element == "i32" ? static_cast<uint32_t>(value) : static_cast<uint64_t>(value);
    return std::string(name) + " = constant {bits = " + std::to_string(static_cast<int64_t>(bits)) +
           "} : " + element + "\n";
  };
  return "kernel @loop(%0: ptr<i32>) options {waves = 1} {\n" + constant("%1", first) + constant("%2", last) +
         constant("%3", step) +
         "%4 = constant {bits = 0} : i32 %5 = constant {bits = 1} : i32\n"
         "%6 = for %1, %2, %3, %4 : i32 do (%7: " +
         element + ", %8: i32) { %9 = add %8, %5 : i32 yield %9 }\nstore %0, %6\n}";
}

TEST(Interpreter, LoopsCountExactlyAtTheEndsOfTheirType) {
  struct {
    const char *element;
    int64_t first, last, step, trips;
  } cases[] = {
      {"i32", 0, 10, 3, 4},
      {"i32", 0, 9, 3, 3},
      {"i32", 5, 5, 1, 0},
      {"i32", 6, 5, 1, 0},
      {"i32", INT32_MAX - 2, INT32_MAX, 2, 1},
      {"i32", INT32_MIN, INT32_MAX, INT32_MAX, 3},
      {"i64", INT64_MIN, INT64_MAX, INT64_MAX, 3},
      {"i64", INT64_MAX - 3, INT64_MAX, 2, 2},
  };
  for (const auto &c : cases) {
    std::vector<int32_t> out(1, -1);
    const Status status = run_text(loop_text(c.element, c.first, c.last, c.step), {out});
    ASSERT_TRUE(status.ok()) << status.error().text();
    EXPECT_EQ(out[0], c.trips) << c.first << " " << c.last << " " << c.step;
  }
  for (int64_t step : {0, -1}) {
    std::vector<int32_t> out(1, -1);
    const Status status = run_text(loop_text("i32", 0, 4, step), {out});
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().message.find("the step of the loop is " + std::to_string(step)),
              std::string::npos);
  }
}

TEST(Interpreter, BranchesRunOneSideOnly) {
  std::vector<int32_t> out(2, -1);
  const Status status = run_text(R"(kernel @branch(%0: ptr<i32>) options {waves = 1} {
  %1 = program_id {axis = 0} : i32
  %2 = constant {bits = 0} : i32
  %3 = eq %1, %2 : i1
  %4 = constant {bits = 1000000} : i32
  %5 = ptr_add %0, %1 : ptr<i32>
  %6 = if %3 : i32 then {
    yield %4 } else {
    %7 = ptr_add %0, %2 : ptr<i32>
    %8 = load %7 : i32
    yield %8 }
  store %5, %6
})",
                                 {out}, {2, 1, 1}, {1, {}});
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(out, (std::vector<int32_t>{1000000, 1000000}));
}

} // namespace
} // namespace nereid
