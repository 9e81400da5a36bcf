#include "tests/dsl/interpreter_support.h"

namespace nereid {
namespace {

using I32 = std::vector<int32_t>;
using F32 = std::vector<float>;

/// Checks that a kernel is refused with this text in the message, at this line of its source.
void expect_error(const std::string &text, std::vector<TestBuffer> buffers, const std::string &message,
                  const std::string &at_op) {
  ir::Function function = kernel_of(text);
  // Every operation gets the location of its own number.
  unsigned line = 0;
  const std::function<void(ir::Block &)> number = [&](ir::Block &block) {
    for (ir::Op &op : block.ops) {
      op.location = ++line;
      function.locations.push_back({"user.cpp", line});
      for (ir::Block &inner : op.blocks)
        number(inner);
    }
  };
  number(function.body);
  const Status status = run_kernel(function, std::move(buffers));
  ASSERT_FALSE(status.ok()) << message;
  EXPECT_EQ(status.error().owner, Owner::User);
  EXPECT_NE(status.error().message.find(message), std::string::npos) << status.error().message;
  EXPECT_NE(status.error().message.find("program (0, 0, 0), " + at_op + ": "), std::string::npos)
      << status.error().message;
  EXPECT_TRUE(status.error().where.known());
  EXPECT_FALSE(status.error().remedy.empty());
}

TEST(HostMemory, FindsWhatHoldsAnAddressAndWhatIsNear) {
  std::byte bytes[64];
  HostMemory memory;
  EXPECT_EQ(memory.find(0x1000), nullptr);
  EXPECT_EQ(memory.nearest(0x1000), nullptr);
  ASSERT_TRUE(memory.add({0x1000, 16, bytes, "a"}).ok());
  ASSERT_TRUE(memory.add({0x1040, 16, bytes + 16, "b"}).ok());
  EXPECT_EQ(memory.find(0xfff), nullptr);
  EXPECT_EQ(memory.find(0x100f)->name, "a");
  EXPECT_EQ(memory.find(0x1010), nullptr);
  EXPECT_EQ(memory.nearest(0x1012)->name, "a");
  EXPECT_EQ(memory.nearest(0x1030)->name, "b");
  EXPECT_EQ(memory.nearest(0)->name, "a");
  EXPECT_EQ(memory.nearest(~uint64_t{0})->name, "b");
  EXPECT_TRUE(memory.find(0x1000)->holds(0x100c, 4));
  EXPECT_FALSE(memory.find(0x1000)->holds(0x100d, 4));
  memory.remove(0x1000);
  EXPECT_EQ(memory.find(0x1000), nullptr);
}

TEST(HostMemory, RefusesWhatIsNoAllocation) {
  std::byte bytes[64];
  HostMemory memory;
  ASSERT_TRUE(memory.add({0x1000, 16, bytes}).ok());
  EXPECT_NE(memory.add({0x100f, 16, bytes}).error().message.find("overlaps"), std::string::npos);
  EXPECT_NE(memory.add({0xff8, 9, bytes}).error().message.find("overlaps"), std::string::npos);
  EXPECT_NE(memory.add({0x2000, 0, bytes}).error().message.find("empty"), std::string::npos);
  EXPECT_NE(memory.add({0x2000, 8, nullptr}).error().message.find("empty"), std::string::npos);
  EXPECT_NE(memory.add({~uint64_t{0} - 2, 8, bytes}).error().message.find("wraps"), std::string::npos);
  EXPECT_TRUE(memory.add({0x1010, 16, bytes}).ok());
}

TEST(InterpreterMemory, MaskedElementsAreZeroOrOtherAndTouchNothing) {
  I32 in = {10, 11}, plain(4, -1), with_other(4, -1);
  const Status status =
      run_text(R"(kernel @masked(%0: ptr<i32>, %1: ptr<i32>, %2: ptr<i32>) options {waves = 1} {
  %10 = arange {start = 0} : i32[4]
  %11 = constant {bits = 2} : i32[4]
  %12 = lt %10, %11 : i1[4]
  %13 = broadcast %0 : ptr<i32>[4]
  %14 = ptr_add %13, %10 : ptr<i32>[4]
  %15 = load %14, %12 : i32[4]
  %16 = load %14, %12, %10 : i32[4]
  %17 = broadcast %1 : ptr<i32>[4]
  %18 = ptr_add %17, %10 : ptr<i32>[4]
  store %18, %15
  %19 = broadcast %2 : ptr<i32>[4]
  %20 = ptr_add %19, %10 : ptr<i32>[4]
  store %20, %16
})",
               {in, plain, with_other});
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(plain, (I32{10, 11, 0, 0}));
  EXPECT_EQ(with_other, (I32{10, 11, 2, 3}));
}

TEST(InterpreterMemory, EveryElementTypeIsCopiedUnchanged) {
  for (const char *element : {"i8", "u8", "i16", "u16", "f16", "bf16", "i32", "u32", "f32", "i64", "u64"}) {
    const unsigned size = ir::byte_size(*ir::element_named(element));
    std::vector<uint8_t> in(4 * size), out(4 * size);
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<uint8_t>(i % size == size - 1 ? 0x40 + i : 37 * i); // no NaN
    std::vector<uint64_t> aligned_in(4), aligned_out(4);
    std::copy(in.begin(), in.end(), reinterpret_cast<uint8_t *>(aligned_in.data()));
    const Elementwise kernel = {{element}, element, std::string("$r = reshape $0 : ") + element + "[n]"};
    const Status status = run_text(kernel.text(4), {aligned_in, aligned_out});
    ASSERT_TRUE(status.ok()) << status.error().text();
    EXPECT_EQ(aligned_in, aligned_out) << element;
  }
}

TEST(InterpreterMemory, AccessesOutsideAreRefusedBeforeTheyHappen) {
  I32 in(4, 1), out(4, 5);
  expect_error(R"(kernel @f(%0: ptr<i32>) options {waves = 1} {
  %10 = constant {bits = 4294967295} : i32
  %11 = ptr_add %0, %10 : ptr<i32>
  store %11, %10
})",
               {in}, "4 bytes before the start of the nearest, allocation 'p0'", "store");
  expect_error(R"(kernel @f(%0: ptr<i32>) options {waves = 1} {
  %10 = constant {bits = 1099511627776} : i64
  %11 = ptr_add %0, %10 : ptr<i32>
  %12 = load %11 : i32
  store %0, %12
})",
               {out}, "4398046511088 bytes past the end of the nearest, allocation 'p0'", "load");
  EXPECT_EQ(out, (I32{5, 5, 5, 5}));
  std::vector<uint64_t> wide(1);
  expect_error(R"(kernel @f(%0: ptr<u64>) options {waves = 1} {
  %10 = constant {bits = 1} : i32
  %11 = ptr_add %0, %10 : ptr<u64>
  %12 = constant {bits = 1} : u64
  %13 = atomic_add %11, %12 {order = "relaxed", scope = "device"} : u64
})",
               {wide}, "0 bytes past the end of the nearest", "atomic_add");
}

TEST(InterpreterMemory, AnAllocationThatEndsInsideAnElementIsRefused) {
  std::vector<uint64_t> storage(2);
  HostMemory memory;
  ASSERT_TRUE(memory.add(storage.data(), 6, "short").ok());
  const ir::Function function = kernel_of(R"(kernel @f(%0: ptr<i32>) options {waves = 1} {
  %10 = constant {bits = 1} : i32
  %11 = ptr_add %0, %10 : ptr<i32>
  store %11, %10
})");
  const InterpretArgument arguments[] = {InterpretArgument::pointer(storage.data())};
  const Status status = interpret(function, {1, 1, 1}, arguments, memory);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("across the end of the nearest"), std::string::npos)
      << status.error().message;
  EXPECT_EQ(storage[0], 0u);
}

TEST(InterpreterMemory, MisalignedAddressesAreRefused) {
  std::vector<uint64_t> storage(4);
  HostMemory memory;
  ASSERT_TRUE(memory.add(storage.data(), 32).ok());
  const ir::Function function =
      kernel_of("kernel @f(%0: ptr<i32>) options {waves = 1} { %1 = load %0 : i32 store %0, %1 }");
  const InterpretArgument arguments[] = {
      InterpretArgument::pointer(reinterpret_cast<uint64_t>(storage.data()) + 2)};
  const Status status = interpret(function, {1, 1, 1}, arguments, memory);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("is no multiple of 4 bytes"), std::string::npos)
      << status.error().message;
  EXPECT_EQ(status.error().message.find("  address"), std::string::npos) << status.error().message;
}

TEST(InterpreterAtomic, TheyReturnOldValuesInOrder) {
  I32 memory = {10, 10, 10, 7}, old(16, -1);
  const Status status = run_text(R"(kernel @atomics(%0: ptr<i32>, %1: ptr<i32>) options {waves = 1} {
  %10 = program_id {axis = 0} : i32
  %11 = constant {bits = 1} : i32
  %12 = constant {bits = 2} : i32
  %13 = constant {bits = 3} : i32
  %14 = constant {bits = 4} : i32
  %15 = ptr_add %0, %11 : ptr<i32>
  %16 = ptr_add %0, %12 : ptr<i32>
  %17 = ptr_add %0, %13 : ptr<i32>
  %20 = atomic_add %0, %12 {order = "relaxed", scope = "device"} : i32
  %21 = constant {bits = 11} : i32
  %22 = add %21, %10 : i32
  %23 = atomic_max %15, %22 {order = "acquire", scope = "device"} : i32
  %24 = atomic_exchange %16, %10 {order = "release", scope = "workgroup"} : i32
  %25 = constant {bits = 8} : i32
  %26 = constant {bits = 7} : i32
  %27 = atomic_compare_exchange %17, %26, %25 {order = "acq_rel", scope = "device"} : i32
  %30 = mul %10, %14 : i32
  %31 = ptr_add %1, %30 : ptr<i32>
  store %31, %20
  %32 = ptr_add %31, %11 : ptr<i32>
  store %32, %23
  %33 = ptr_add %31, %12 : ptr<i32>
  store %33, %24
  %34 = ptr_add %31, %13 : ptr<i32>
  store %34, %27
})",
                                 {memory, old}, {4, 1, 1}, {4, {}});
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(memory, (I32{18, 14, 3, 8}));
  EXPECT_EQ(old, (I32{10, 10, 10, 7, 12, 11, 0, 8, 14, 12, 1, 8, 16, 13, 2, 8}));
}

TEST(InterpreterAtomic, ATileMayHitOneAddressManyTimesAndMasksAreKept) {
  F32 sum = {1}, old(4, -1);
  const Status status = run_text(R"(kernel @sum(%0: ptr<f32>, %1: ptr<f32>) options {waves = 1} {
  %10 = arange {start = 0} : i32[4]
  %11 = constant {bits = 2} : i32[4]
  %12 = ne %10, %11 : i1[4]
  %13 = broadcast %0 : ptr<f32>[4]
  %14 = cast %10 : f32[4]
  %15 = atomic_add %13, %14, %12 {order = "relaxed", scope = "device"} : f32[4]
  %16 = broadcast %1 : ptr<f32>[4]
  %17 = ptr_add %16, %10 : ptr<f32>[4]
  store %17, %15
})",
                                 {sum, old});
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(sum[0], 5.0f);
  EXPECT_EQ(old, (F32{1, 1, 0, 2}));
}

const char *const overflow_head = R"(kernel @overflow(%0: ptr<i32>) options {waves = 1} {
  %10 = arange {start = 0} : i32[4]
  %11 = constant {bits = 2147483646} : i32[4]
  %12 = broadcast %0 : ptr<i32>[4]
)";

TEST(InterpreterPoison, AnOverflowThatReachesAnAddressIsReported) {
  I32 out(4);
  // Elements 2 and 3 overflow; subtracting brings all back into the buffer.
  const std::string sum = "%20 = add %10, %11 : i32[4] %21 = sub %20, %11 : i32[4]\n";
  const std::string store = "%30 = ptr_add %12, %21 : ptr<i32>[4] store %30, %10 }";
  expect_error(overflow_head + sum + store, {out},
               "an i32 overflow at user.cpp:4 reaches an address in element [2]", "store");
  EXPECT_EQ(out, (I32{0, 0, 0, 0}));
  const std::string through =
      "%22 = cast %21 : i64[4] %23 = reshape %22 : i64[2, 2] %24 = reshape %23 : i64[4]\n"
      "%30 = ptr_add %12, %24 : ptr<i32>[4] %31 = load %30 : i32[4] store %12, %31 }";
  expect_error(overflow_head + sum + through, {out},
               "an i32 overflow at user.cpp:4 reaches an address in element [2]", "load");
}

TEST(InterpreterPoison, AnOverflowThatAMaskRemovesOrThatIsNoAddressIsFine) {
  I32 out(4, -1);
  const std::string sum = "%20 = add %10, %11 : i32[4] %21 = sub %20, %11 : i32[4]\n";
  const std::string masked = "%22 = constant {bits = 2} : i32[4] %23 = lt %10, %22 : i1[4]\n"
                             "%30 = ptr_add %12, %21 : ptr<i32>[4] store %30, %10, %23 }";
  Status status = run_text(overflow_head + sum + masked, {out});
  EXPECT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(out, (I32{0, 1, -1, -1}));
  // A wrapped hash that is cut to an index by a bit operation is meant.
  const std::string hash = "%22 = constant {bits = 3} : i32[4] %23 = and %20, %22 : i32[4]\n"
                           "%30 = ptr_add %12, %23 : ptr<i32>[4] store %30, %20 }";
  status = run_text(overflow_head + sum + hash, {out});
  EXPECT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(out, (I32{INT32_MIN, INT32_MIN + 1, 2147483646, 2147483647}));
}

TEST(InterpreterPoison, AnOverflowIsCarriedThroughLoopsAndSelections) {
  I32 out(4);
  expect_error(R"(kernel @f(%0: ptr<i32>) options {waves = 1} {
  %10 = constant {bits = 0} : i32
  %11 = constant {bits = 1} : i32
  %12 = constant {bits = 3} : i32
  %13 = constant {bits = 1073741824} : i32
  %14 = for %10, %12, %11, %13 : i32 do (%20: i32, %21: i32) {
    %22 = add %21, %21 : i32
    yield %22 }
  %15 = eq %14, %10 : i1
  %16 = where %15, %14, %10 : i32
  %17 = ptr_add %0, %16 : ptr<i32>
  store %17, %10
})",
               {out}, "an i32 overflow at user.cpp:6 reaches an address", "store");
}

const char *const division_head = R"(kernel @division(%0: ptr<i32>) options {waves = 1} {
  %10 = arange {start = 0} : i32[4]
  %11 = constant {bits = 12} : i32[4]
  %12 = broadcast %0 : ptr<i32>[4]
  %13 = ptr_add %12, %10 : ptr<i32>[4]
  %14 = div %11, %10 : i32[4]
)";

TEST(InterpreterPoison, ADivisionByZeroIsReportedWhereItCanBeSeen) {
  I32 out(4, -1);
  const std::string where = "a division by zero at user.cpp:5 ";
  const auto check = [&](const std::string &rest, const std::string &what, const std::string &at) {
    expect_error(division_head + rest + "}", {out}, where + what, at);
  };
  check("store %13, %14", "reaches memory in element [0]", "store");
  check("%15 = cast %14 : f32[4] %16 = cast %15 : i32[4] store %13, %16", "reaches memory in element [0]",
        "store");
  check("%15 = reduce_sum %14 {axis = 0} : i32 store %0, %15", "reaches memory", "store");
  const Status scalar =
      run_text(std::string(division_head) + "%15 = reduce_sum %14 {axis = 0} : i32 store %0, %15 }", {out});
  EXPECT_NE(scalar.error().text().find("reaches memory. Guard"), std::string::npos) << scalar.error().text();
  check("%15 = cumsum %14 {axis = 0} : i32[4] store %13, %15", "reaches memory in element [0]", "store");
  check("%15 = ptr_add %12, %14 : ptr<i32>[4] store %15, %10", "reaches an address in element [0]", "store");
  check("%15 = lt %14, %10 : i1[4] store %13, %10, %15", "reaches a mask in element [0]", "store");
  check("%15 = lt %14, %10 : i1[4] %16 = reduce_any %15 {axis = 0} : i1 if %16 then { yield } else { yield }",
        "reaches a branch", "if");
  check("%15 = reduce_max %14 {axis = 0} : i32 for %15, %15, %15 do (%40: i32) { yield }",
        "reaches the bounds of a loop", "for");
  check("%15 = lt %14, %10 : i1[4] device_assert %15 {message = \"m\"}", "reaches an assert in element [0]",
        "device_assert");
  check("device_print %14 {message = \"m\"}", "reaches a print in element [0]", "device_print");
  EXPECT_EQ(out, (I32{-1, -1, -1, -1}));
}

TEST(InterpreterPoison, ADivisionByZeroThatNobodySeesIsFine) {
  I32 out(4, -1);
  const std::string mask = "%20 = constant {bits = 0} : i32[4] %21 = ne %10, %20 : i1[4]\n";
  Status status = run_text(division_head + mask + "store %13, %14, %21 }", {out});
  EXPECT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(out, (I32{-1, 12, 6, 4}));
  status = run_text(division_head + mask + "%22 = where %21, %14, %20 : i32[4] store %13, %22 }", {out});
  EXPECT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(out, (I32{0, 12, 6, 4}));
}

TEST(InterpreterPoison, ADivisionByZeroSpoilsItsRowOfAProductOnly) {
  F32 out(4, -1);
  const auto text = [](const std::string &mask) {
    return R"(kernel @product(%0: ptr<f32>) options {waves = 1} {
  %10 = arange {start = 0} : i32[4]
  %11 = constant {bits = 12} : i32[4]
  %14 = div %11, %10 : i32[4]
  %15 = cast %14 : bf16[4]
  %16 = reshape %15 : bf16[2, 2]
  %17 = constant {bits = 0x3f80} : bf16[2, 2]
  %18 = dot %16, %17 : f32[2, 2]
  %19 = reshape %18 : f32[4]
  %20 = broadcast %0 : ptr<f32>[4]
  %21 = ptr_add %20, %10 : ptr<f32>[4]
  %22 = constant {bits = )" +
           mask + R"(} : i32[4]
  %23 = ge %10, %22 : i1[4]
  store %21, %19, %23
})";
  };
  const Status status = run_text(text("2"), {out});
  EXPECT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(out, (F32{-1, -1, 10, 10}));
  expect_error(text("1"), {out}, "reaches memory in element [1]", "store");
}

TEST(InterpreterStatement, AssertionsAndAssumptionsThatFail) {
  I32 out(4);
  const std::string head = "kernel @f(%0: ptr<i32>) options {waves = 1} { %10 = arange {start = 0} : i32[4]\n"
                           "%11 = constant {bits = 3} : i32[4] %12 = ne %10, %11 : i1[4]\n";
  expect_error(head + "device_assert %12 {message = \"not three\"} }", {out},
               "assertion failed: not three, element [3]", "device_assert");
  expect_error(head + "%13 = program_id {axis = 0} : i32 %14 = ne %13, %13 : i1 assume %14 }", {out},
               "the assumption does not hold", "assume");
}

TEST(InterpreterStatement, PrintsComeInTheOrderOfThePrograms) {
  std::vector<std::string> lines;
  InterpretOptions options;
  options.threads = 4;
  options.print = [&](std::string_view line) { lines.emplace_back(line); };
  const Status status = run_text(R"(kernel @f() options {waves = 1} {
  %10 = program_id {axis = 0} : i32
  %11 = arange {start = 0} : i32[4]
  %12 = reshape %11 : i32[2, 2]
  %13 = constant {bits = 0x3fc00000} : f32
  %14 = ne %10, %10 : i1
  device_print %10, %12, %13, %14 {message = "x:"}
})",
                                 {}, {2, 1, 1}, options);
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(lines, (std::vector<std::string>{"(0, 0, 0) x: 0 [[0, 1],\n[2, 3]] 1.5 false",
                                             "(1, 0, 0) x: 1 [[0, 1],\n[2, 3]] 1.5 false"}));
}

TEST(InterpreterStatement, TextWithoutPlacesNamesTheOperation) {
  const Status status =
      run_text("kernel @f() options {waves = 1} { %1 = program_id {axis = 0} : i32 %2 = ne %1, %1 : i1\n"
               "device_assert %2 {message = \"m\"} }",
               {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "kernel f, program (0, 0, 0), device_assert %2 {message = \"m\"}: assertion failed: m");
  EXPECT_FALSE(status.error().where.known());
}

} // namespace
} // namespace nereid
