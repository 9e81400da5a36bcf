#include <gtest/gtest.h>

#include "dsl/ir/parser.h"
#include "dsl/ir/verifier.h"

namespace nereid::ir {
namespace {

/// Values of many types for the cases below: %0 to %4 are arguments, %10 and up constants.
constexpr const char *prelude =
    R"(kernel @f(%0: ptr<f32>, %1: i32, %2: ptr<f32> {read_only}, %3: f32, %4: i64) options {waves = 4} {
  %10 = constant {bits = 1} : i1
  %11 = constant {bits = 0} : i1[64]
  %12 = constant {bits = 0} : i32[64]
  %13 = constant {bits = 0} : f32[64]
  %14 = constant {bits = 0} : f32[16, 64]
  %15 = constant {bits = 0} : bf16[16, 64]
  %16 = constant {bits = 0} : bf16[64, 32]
  %17 = constant {bits = 0} : u8[16, 32]
  %18 = constant {bits = 0} : u8[32, 16]
  %19 = constant {bits = 0} : u8[16, 2]
  %20 = broadcast %0 : ptr<f32>[64]
  %21 = constant {bits = 0} : f32[8, 2]
  %22 = constant {bits = 0} : f16[64, 32]
  %23 = constant {bits = 0} : u8[16, 48]
)";

Status verify_text(const std::string &text) {
  const Result<Function> function = parse(text);
  if (!function.ok())
    return function.error();
  return verify(*function);
}

TEST(Verifier, AcceptsWellFormedOperations) {
  const Status status = verify_text(std::string(prelude) + R"(
  %30 = dot %15, %16 : f32[16, 32]
  %31 = dot_scaled %17, %19, %18, %19 {format_a = "e2m1", format_b = "e2m1"} : f32[16, 16]
  %32 = dot_scaled %15, %18, %19 {format_a = "bf16", format_b = "e2m1"} : f32[16, 16]
  %33 = dot_scaled %23, %19, %18, %19 {format_a = "e3m2", format_b = "e2m1"} : f32[16, 16]
  %34, %35 = quantize %15 {format = "e2m3", rule = "even"} : u8[16, 48], u8[16, 2]
  %36, %37 = split %21 : f32[8], f32[8]
  %38 = join %36, %37 : f32[8, 2]
  %39 = load %20, %11, %13 {cache = "stream"} : f32[64]
  %40 = atomic_compare_exchange %20, %13, %13, %11 {order = "acq_rel", scope = "device"} : f32[64]
  %41 = argmax %14 {axis = 1} : i32[16]
  %76 = cast %15 : fp8[16, 64]
  %77 = cast %16 : bf8[64, 32]
  %78 = dot %76, %77 {format_a = "e4m3", format_b = "e5m2"} : f32[16, 32]
  %79 = dot_scaled %76, %19, %18, %19 {format_a = "e4m3", format_b = "e2m1"} : f32[16, 16]
  %80 = int_to_ptr %4 : ptr<bf8>
  %42, %43 = for %1, %1, %1, %13, %0 {stages = 2} : f32[64], ptr<f32> do (%50: i32, %51: f32[64], %52: ptr<f32>) {
    %53 = if %10 : f32[64] then {
      yield %51 } else {
      %54 = add %51, %39 : f32[64]
      yield %54 }
    yield %53, %52 }
  %60, %61 = while %10, %1, %13 : i32, f32[64] do (%62: i32, %63: f32[64]) {
    yield %10, %62, %63 }
  %64, %65 = reduce %13, %12 {axis = 0} : f32, i32 do (%66: f32, %67: i32, %68: f32, %69: i32) {
    %70 = add %66, %68 : f32
    yield %70, %69 }
  %71 = scan %14 {axis = 1} : f32[16, 64] do (%72: f32, %73: f32) {
    %74 = mul %72, %73 : f32
    yield %74 }
  %75 = butterfly %14 {axis = 0, distance = 8} : f32[16, 64]
  store %20, %42, %11
  device_print %13, %0 {message = "x"}
}
)");
  EXPECT_TRUE(status.ok()) << status.error().text();
}

struct Malformed {
  const char *ops;
  const char *message;
};

TEST(Verifier, RefusesEveryKindOfMalformedOperation) {
  const Malformed cases[] = {
      // Numbers of operands, results, regions.
      {"%30 = add %12 : i32[64]", "1 operands are too few"},
      {"%30 = neg %12, %12 : i32[64]", "2 operands are too many"},
      {"%30, %31 = add %12, %12 : i32[64], i32[64]", "2 results instead of 1"},
      {"if %10 then { yield }", "1 regions instead of 2"},
      // Attributes.
      {"%30 = arange : i32[4]", "attribute start is missing"},
      {"%30 = arange {start = \"0\"} : i32[4]", "attribute start is a number"},
      {"%30 = permute %14 {order = 1} : f32[64, 16]", "attribute order is a list of numbers"},
      {"%30 = add %12, %12 {axis = 1} : i32[64]", "an attribute that the operation does not have"},
      // Definitions and dominance.
      {"%30 = add %31, %12 : i32[64] %31 = neg %12 : i32[64]", "%31 is not defined here"},
      {"if %10 then { %30 = neg %12 : i32[64] yield } else { yield } %31 = neg %30 : i32[64]",
       "%30 is not defined here"},
      {"if %10 then { %30 = neg %12 : i32[64] yield } else { %31 = neg %30 : i32[64] yield }",
       "%30 is not defined here"},
      {"%30 = if %10 : i1 then { yield %30 } else { yield %10 }", "%30 is not defined here"},
      // Element types.
      {"%30 = exp %12 : i32[64]", "operand 0 is i32[64], not f32, bf16 or f16"},
      {"%30 = cast %13 : fp8[64] %31 = exp %30 : fp8[64]", "operand 0 is fp8[64], not f32, bf16 or f16"},
      {"%30 = cast %13 : f64[64] %31 = exp %30 : f64[64]", "operand 0 is f64[64], not f32, bf16 or f16"},
      {"%30 = cast %13 : f64[64] %31 = fmod %30, %30 : f64[64]",
       "operand 0 is f64[64], not f32, bf16 or f16"},
      {"%30 = sqrt %12 : i32[64]", "operand 0 is i32[64], not f64, f32, bf16 or f16"},
      {"%30 = cast %13 : bf8[64] %31 = add %30, %30 : bf8[64]",
       "operand 0 is bf8[64], not an integer, f64, f32, bf16 or f16"},
      {"%30 = cast %13 : fp8[64] %31 = eq %30, %30 : i1[64]",
       "operand 0 is fp8[64], not i1, an integer, f64, f32, bf16 or f16"},
      {"%30 = and %13, %13 : f32[64]", "operand 0 is f32[64], not i1 or an integer"},
      {"%30 = add %11, %11 : i1[64]", "operand 0 is i1[64], not an integer, f64, f32, bf16 or f16"},
      {"%30 = load %13 : f32[64]", "operand 0 is f32[64], not a pointer"},
      {"%30 = mulhi %4, %4 : i64", "operand 0 is i64, not i32 or u32"},
      {"%30 = add %12, %13 : i32[64]", "operand 1 is f32[64], not i32[64]"},
      {"%30 = add %13, %3 : f32[64]", "operand 1 is f32, not f32[64]"},
      {"%30 = lt %13, %13 : f32[64]", "the result is f32[64], not i1[64]"},
      {"%30 = where %11, %13, %12 : f32[64]", "operand 2 is i32[64], not f32[64]"},
      {"%30 = where %10, %13, %13 : f32[64]", "operand 0 has shape [], not [64]"},
      // Sources.
      {"%30 = constant {bits = 256} : u8", "bits does not fit in 8 bits"},
      {"%30 = constant {bits = 0} : ptr<f32>", "a constant is not a pointer"},
      {"%30 = program_id {axis = 3} : i32", "axis is 0, 1 or 2"},
      {"%30 = arange {start = 2147483647} : i32[2]", "the numbers of an arange fit in i32"},
      {"%30 = arange {start = 0} : i32[4, 4]", "arange gives i32[n], not i32[4, 4]"},
      // Shapes.
      {"%30 = constant {bits = 0} : f32[0]", "a dimension is at least 1"},
      {"%30 = constant {bits = 0} : f32[134217728, 134217728]", "a tile at most 134217728 elements"},
      {"%30 = broadcast %13 : f32[16, 64]", "[64] does not broadcast to [16, 64]"},
      {"%30 = broadcast %21 : f32[8, 4]", "[8, 2] does not broadcast to [8, 4]"},
      {"%30 = expand_dims %13 {axis = 2} : f32[64, 1]", "axis is 0 to 1"},
      {"%30 = reshape %13 : f32[8, 4]", "[64] and [8, 4] have different numbers of elements"},
      {"%30 = permute %14 {order = [0, 0]} : f32[16, 16]", "order is not a permutation of 2 dimensions"},
      {"%30 = permute %14 {order = [1, 0]} : f32[16, 64]", "the result is f32[16, 64], not f32[64, 16]"},
      {"%30, %31 = split %14 : f32[16], f32[16]", "the last dimension of [16, 64] is not 2"},
      {"%30 = reduce_sum %14 {axis = 2} : f32[16]", "axis 2 is not in [16, 64]"},
      {"%30 = reduce_sum %14 {axis = 0} : f32[16]", "the result is f32[16], not f32[64]"},
      {"%30 = argmax %14 {axis = 0} : f32[64]", "the result is f32[64], not i32[64]"},
      // Conversions and pointers.
      {"%30 = bitcast %13 : i64[64]", "differ in width"},
      {"%30 = cast %13 : i32[32]", "the result is i32[32], not i32[64]"},
      {"%30 = ptr_add %20, %13 : ptr<f32>[64]", "the offset is i32 or i64, not f32[64]"},
      {"%30 = int_to_ptr %12 : ptr<f32>[64]", "an address is i64 or u64, not i32[64]"},
      {"%30 = int_to_ptr %4 : i64", "the result is i64, not ptr<i64>"},
      {"%30 = cvt_scaled %13, %13, %13 {format = \"e2m3\"} : u8[64]",
       "format is e2m1, e4m3 or e5m2, not 'e2m3'"},
      {"%30 = cvt_scaled %13, %13, %13 {format = \"e4m3\"} : u8[64]", "the result is u8[64], not u16[64]"},
      {"%30 = inline_asm %13, %12 {asm = \"\", constraints = \"\"} : f32",
       "operand 0 has shape [64], not []"},
      // Matrices.
      {"%30 = dot %15, %15 : f32[16, 64]", "K is 64 in a and 16 in b"},
      {"%30 = dot %15, %22 : f32[16, 32]", "b is f16[64, 32], not bf16[64, 32]"},
      {"%30 = dot %14, %14 : f32[16, 64]",
       "dot takes bf16, f16, i8 or codes in u8, fp8 and bf8, not f32[16, 64]"},
      {"%30 = cast %15 : fp8[16, 64] %31 = cast %16 : fp8[64, 32] %32 = dot %30, %31 {format_a = \"e4m3\", "
       "format_b = \"e5m2\"} : f32[16, 32]",
       "fp8[64, 32] holds no codes of e5m2"},
      {"%30 = cast %15 : fp8[16, 64] %31 = cast %16 : fp8[64, 32] %32 = dot %30, %31 : f32[16, 32]",
       "format_a belongs to codes, and they to it"},
      {"%30 = dot_scaled %17, %19, %18, %19 {format_a = \"e2m2\", format_b = \"e2m1\"} : f32[16, 16]",
       "'e2m2' is not a format"},
      {"%30 = dot_scaled %17, %19, %18, %19 {format_a = \"e4m3\", format_b = \"e2m1\"} : f32[16, 16]",
       "the scales of a are u8[16, 2], not u8[16, 1]"},
      {"%30 = dot_scaled %17, %19, %18, %19 {format_a = \"e2m3\", format_b = \"e2m1\"} : f32[16, 16]",
       "32 bytes along K of a hold no whole groups of 32 e2m3 values"},
      {"%30 = dot_scaled %15, %16 {format_a = \"bf16\", format_b = \"bf16\"} : f32[16, 32]",
       "no side is scaled"},
      {"%30 = dot_scaled %15, %19, %18, %19 {format_a = \"bf16\", format_b = \"e2m1\"} : f32[16, 16]",
       "the scales of b are u8[32, 16], not u8[2, 1]"},
      {"%30 = dot_scaled %15, %18 {format_a = \"bf16\", format_b = \"e2m1\"} : f32[16, 16]",
       "the scales of b are missing"},
      {"%30, %31 = quantize %14 {format = \"bf16\", rule = \"even\"} : u8[16, 32], u8[16, 2]",
       "'bf16' is not a format with scales"},
      {"%30, %31 = quantize %14 {format = \"e2m1\", rule = \"up\"} : u8[16, 32], u8[16, 2]",
       "rule is even, floor or ceil, not 'up'"},
      {"%30, %31 = quantize %21 {format = \"e2m1\", rule = \"even\"} : u8[8, 1], u8[8, 1]",
       "the last dimension of [8, 2] is not a multiple of 32"},
      {"%30, %31 = quantize %14 {format = \"e2m3\", rule = \"even\"} : u8[16, 32], u8[16, 2]",
       "result 0 is u8[16, 32], not u8[16, 48]"},
      // Memory.
      {"%30 = load %20, %12 : f32[64]", "the mask is i32[64], not i1[64]"},
      {"%30 = load %20, %11, %3 : f32[64]", "the other value is f32, not f32[64]"},
      {"%30 = load %20 : i32[64]", "the result is i32[64], not f32[64]"},
      {"%30 = load %20 {cache = \"always\"} : f32[64]", "cache is stream or global, not 'always'"},
      {"store %20, %12", "the value is i32[64], not f32[64]"},
      {"store %2, %3", "it writes through a read-only argument"},
      {"%30 = broadcast %2 : ptr<f32>[64] %31 = ptr_add %30, %12 : ptr<f32>[64] store %31, %13",
       "it writes through a read-only argument"},
      {"%30 = atomic_add %20, %13 {order = \"seq_cst\", scope = \"device\"} : f32[64]",
       "order is relaxed, acquire, release or acq_rel, not 'seq_cst'"},
      {"%30 = atomic_add %20, %13 {order = \"relaxed\", scope = \"system\"} : f32[64]",
       "scope is workgroup or device, not 'system'"},
      {"%30 = atomic_compare_exchange %20, %13 {order = \"relaxed\", scope = \"device\"} : f32[64]",
       "2 operands are too few"},
      // Statements and regions.
      {"assume %11", "assume takes a rank-0 condition"},
      {"device_assert %11", "attribute message is missing"},
      {"if %11 then { yield } else { yield }", "the condition is i1[64], not i1"},
      {"if %10 then { yield } else { }", "a region ends in yield"},
      {"if %10 then { yield yield } else { yield }", "yield is the last operation of its region"},
      {"%30 = if %10 : i32 then { yield %1 } else { yield }", "0 values for 1 results"},
      {"%30 = if %10 : i32 then { yield %1 } else { yield %3 }", "value 0 is f32, not i32"},
      {"yield", "yield is outside of a region"},
      {"for %1, %4, %1 do (%40: i32) { yield }", "operand 1 is i64, not i32"},
      {"for %3, %3, %3 do (%40: f32) { yield }", "operand 0 is f32, not an integer"},
      {"for %1, %1, %1 do (%40: i64) { yield }", "%40 is i64, not i32"},
      {"for %1, %1, %1 { yield }", "malformed"},
      {"for %1, %1, %1 {stages = 0} do (%40: i32) { yield }", "stages is 1 to 16, not 0"},
      {"for %1, %1, %1 {stages = 17} do (%40: i32) { yield }", "stages is 1 to 16, not 17"},
      {"for %1, %1, %1, %13 do (%40: i32, %41: f32[64]) { yield %41 }",
       "1 values are carried, 0 are results"},
      {"%30 = for %1, %1, %1, %13 : f32[64] do (%40: i32) { yield %13 }",
       "a region with 1 arguments instead of 2"},
      {"while %11 do { yield %11 }", "the condition is i1[64], not i1"},
      {"while %10, %1 do (%40: i32) { yield %10 }", "1 values are carried, 0 are results"},
      {"%30 = while %10, %1 : i32 do (%40: i64) { yield %10, %1 }", "%40 is i64, not i32"},
      {"%30 = while %10, %1 : i32 do (%40: i32) { yield %40 }", "1 values for 1 results"},
      {"%30 = while %10, %1 : i32 do (%40: i32) { yield %40, %40 }", "value 0 is i32, not i1"},
      // Combining functions.
      {"%30 = reduce %13 {axis = 1} : f32 do (%40: f32, %41: f32) { yield %40 }", "axis 1 is not in [64]"},
      {"%30 = reduce %13, %12 {axis = 0} : f32 do (%40: f32, %41: i32, %42: f32, %43: i32) { yield %40 }",
       "1 results for 2 operands"},
      {"%30, %31 = reduce %13, %14 {axis = 0} : f32, f32 do (%40: f32, %41: f32, %42: f32, %43: f32) { yield "
       "%40, %41 }",
       "operand 1 has shape [16, 64], not [64]"},
      {"%30 = scan %13 {axis = 0} : f32 do (%40: f32, %41: f32) { yield %40 }",
       "result 0 is f32, not f32[64]"},
      {"%30 = scan %13 {axis = 0} : f32[64] do (%40: f32) { yield %40 }",
       "a region with 1 arguments instead of 2"},
      {"%30 = scan %13 {axis = 0} : f32[64] do (%40: f32, %41: f32) { yield %1 }", "value 0 is i32, not f32"},
      {"%30 = scan %13 {axis = 0} : f32[64] do (%40: f32, %41: f32) { %42 = load %0 : f32 yield %42 }",
       "a combining function has scalar constants and elementwise operations only"},
      {"%30 = scan %13 {axis = 0} : f32[64] do (%40: f32, %41: f32) { %42 = neg %13 : f32[64] yield %40 }",
       "a combining function has scalar constants and elementwise operations only"},
      {"%30 = butterfly %21 {axis = 1, distance = 2} : f32[8, 2]", "distance 2 leaves the power of two in 2"},
      {"%30 = butterfly %21 {axis = 0, distance = 0} : f32[8, 2]", "distance 0 leaves"},
  };
  for (const Malformed &bad : cases) {
    const Status status = verify_text(std::string(prelude) + bad.ops + "\n}\n");
    ASSERT_FALSE(status.ok()) << bad.ops;
    if (std::string_view(bad.message) == "malformed") // not even text
      continue;
    EXPECT_NE(status.error().message.find(bad.message), std::string::npos) << bad.ops << "\n"
                                                                           << status.error().message;
    EXPECT_EQ(status.error().owner, Owner::Nereid) << status.error().message;
  }
}

TEST(Verifier, ErrorsGiveOperationTextAndPlace) {
  Result<Function> function = parse("kernel @f(%0: i32) options {waves = 1} {\n %1 = exp %0 : i32\n}");
  ASSERT_TRUE(function.ok());
  function->locations.push_back({"user.cpp", 12});
  function->body.ops[0].location = 1;
  const Status status = verify(*function);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(
      status.error().message,
      "malformed tile IR, operation 1 of @f: %1 = exp %0 : i32: operand 0 is i32, not f32, bf16 or f16");
  EXPECT_EQ(status.error().where.text(), "user.cpp:12");
}

TEST(Verifier, ChecksOptionsAndArguments) {
  const Malformed cases[] = {
      {"kernel @f() options {waves = 17} {}", "waves is 1 to 16"},
      {"kernel @f() options {mfma = 8} {}", "mfma 16 or 32"},
      {"kernel @f(%0: i8) options {waves = 1} {}",
       "an argument is a pointer, an integer of 32 or 64 bits, f64, f32, f16, bf16 or i1, not i8"},
      {"kernel @f(%0: i32[4]) options {waves = 1} {}",
       "an argument is a pointer, an integer of 32 or 64 bits, f64, f32, f16, bf16 or i1, not i32[4]"},
      {"kernel @f(%0: i32 {divisibility = 0}) options {waves = 1} {}", "divisibility is at least 1"},
      {"kernel @f(%0: i32 {divisibility = 16, constant = 3}) options {waves = 1} {}",
       "the constant contradicts the divisibility"},
      {"kernel @f(%0: ptr<f32> {constant = 3}) options {waves = 1} {}", "only an integer has a constant"},
      {"kernel @f(%0: ptr<f32> {pointer_range = 31}) options {waves = 1} {}",
       "only a pointer has a range, of 32"},
      {"kernel @f(%0: i32 {pointer_range = 32}) options {waves = 1} {}", "only a pointer has a range, of 32"},
  };
  for (const Malformed &bad : cases) {
    const Status status = verify_text(bad.ops);
    ASSERT_FALSE(status.ok()) << bad.ops;
    EXPECT_NE(status.error().message.find(bad.message), std::string::npos) << status.error().message;
  }
}

TEST(Verifier, RefusesValuesAndPlacesThatDoNotExist) {
  Function function;
  function.name = "f";
  Op op;
  op.opcode = Opcode::Neg;
  op.operands = {7};
  op.results = {function.new_value(Type::scalar(Element::I32))};
  function.body.ops.push_back(op);
  EXPECT_NE(verify(function).error().message.find("%7 is not defined here"), std::string::npos);
  function.body.ops[0].operands.clear();
  function.body.ops[0].opcode = Opcode::ProgramId;
  function.body.ops[0].attributes["axis"] = int64_t{0};
  EXPECT_TRUE(verify(function).ok());
  function.body.ops[0].location = 5;
  EXPECT_NE(verify(function).error().message.find("it has no location"), std::string::npos);
}

} // namespace
} // namespace nereid::ir
