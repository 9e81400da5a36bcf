#include <gtest/gtest.h>

#include "dsl/ir/parser.h"
#include "dsl/ir/printer.h"

namespace nereid::ir {
namespace {

constexpr const char *loop_text =
    R"(kernel @sum_rows(%0: ptr<f32> {read_only, divisibility = 16}, %1: i32 {constant = 64}, %2: ptr<f32> {pointer_range = 32}) options {waves = 4, mfma = 16, waves_per_eu = 0} {
  %3 = constant {bits = 0} : i32
  %4 = constant {bits = 1} : i32
  %5 = constant {bits = 0x3f800000} : f32[64]
  %6 = arange {start = 0} : i32[64]
  %7 = for %3, %1, %4, %5 {stages = 2} : f32[64] do (%8: i32, %9: f32[64]) {
    %10 = broadcast %0 : ptr<f32>[64]
    %11 = ptr_add %10, %6 : ptr<f32>[64]
    %12 = load %11 : f32[64]
    %13 = eq %8, %3 : i1
    %14 = if %13 : f32[64] then {
      yield %12 } else {
      %15 = add %9, %12 : f32[64]
      yield %15 }
    yield %14 }
  if %13 then { } else { }
  device_assert %13 {message = "a \"quote\", a \\ and\na \x01"}
  store %11, %7
}
)";

TEST(Text, ParsingAndPrintingGiveTheSameText) {
  const Result<Function> function = parse(loop_text);
  ASSERT_TRUE(function.ok()) << function.error().text();
  EXPECT_EQ(print(*function), loop_text);
}

TEST(Text, OperationNStandsOnLineNPlusOne) {
  const Result<Function> function = parse(loop_text);
  ASSERT_TRUE(function.ok());
  std::vector<std::string> lines;
  for (std::string_view rest = loop_text; !rest.empty();) {
    const size_t end = rest.find('\n');
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  unsigned visited = 0;
  for_each_op(*function, [&](const Op &op, unsigned line) {
    ++visited;
    EXPECT_NE(lines[line].find(print(*function, op)), std::string::npos) << line << ": " << lines[line];
  });
  EXPECT_EQ(visited, lines.size() - 2);
}

TEST(Text, EveryOperationHasANameThatIsReadBack) {
#define NEREID_OP(enumerator, text, ...)                                                                     \
  EXPECT_EQ(opcode_named(text), Opcode::enumerator);                                                         \
  EXPECT_EQ(facts(Opcode::enumerator).name, text);
#include "dsl/ir/ops.def"
}

TEST(Text, EveryOperationGoesThroughTheTextUnchanged) {
  Function function;
  function.name = "all of them";
  const ValueId x = function.new_value(Type::pointer_to(Element::BF16, {2, 48}));
  function.arguments.push_back({x, true, 64, -3});
  const auto add = [&](Opcode opcode) {
    Op op;
    op.opcode = opcode;
    op.operands = {x, x};
    op.results = {function.new_value(Type::tile(Element::U8, {16, 3})),
                  function.new_value(Type::scalar(Element::I64))};
    op.attributes = {
        {"axis", int64_t{-5}}, {"order", std::vector<int64_t>{2, 0, 1}}, {"asm", "v_mov $0, \"\t\""}};
    op.blocks.resize(2);
    op.blocks[1].arguments.push_back(function.new_value(Type::scalar(Element::I1)));
    op.blocks[1].ops.push_back(Op{Opcode::Yield, {x}, {}, {}, {}, 0});
    function.body.ops.push_back(op);
  };
#define NEREID_OP(enumerator, ...) add(Opcode::enumerator);
#include "dsl/ir/ops.def"
  const std::string text = print(function);
  const Result<Function> back = parse(text);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(print(*back), text);
  EXPECT_EQ(back->arguments[0].constant, -3);
  EXPECT_EQ(back->body.ops[7].attributes, function.body.ops[7].attributes);
  EXPECT_EQ(back->value_types, function.value_types);
}

TEST(Text, CommentsAndBlanksAreFree) {
  const Result<Function> function = parse("kernel @f ( ) // a comment\n options{waves=2} {\n\n// nothing\n}");
  ASSERT_TRUE(function.ok()) << function.error().text();
  EXPECT_EQ(function->options.waves, 2);
  EXPECT_EQ(function->name, "f");
}

struct BadText {
  const char *body;
  const char *message;
};

TEST(Text, ErrorsNameLineAndColumn) {
  const std::string head = "kernel @f(%0: i32) options {waves = 1} {\n";
  const BadText cases[] = {
      {"  %1 = ad %0, %0 : i32\n}", "line 2, column 8: expected the name of an operation, found 'ad'"},
      {"  %1 = add %0, %7 : i32\n}", "line 2, column 16: %7 is defined nowhere"},
      {"  %1 = add %0, %0 : i33\n}", "line 2, column 21: expected a type such as f32[16, 64], found 'i33'"},
      {"  %1 = add %0, %0\n}", "line 3, column 1: expected ':', found '}'"},
      {"  %0 = add %0, %0 : i32\n}", "line 2, column 3: %0 is defined a second time"},
      {"  %1 = arange {start = 0, start = 1} : i32[4]\n}", "line 2, column 27: attribute start is repeated"},
      {"  %1 = arange {start = } : i32[4]\n}",
       "line 2, column 24: expected a number, a string or a list of numbers, found '}'"},
      {"  %1 = arange {start = 99999999999999999999} : i32[4]\n}",
       "line 2, column 24: expected a number, a string or a list of numbers, found '99999999999999999999'"},
      {"  %1 = arange {start = \"open} : i32[4]\n}",
       "line 2, column 24: expected a number, a string or a list of numbers, found '\"open} : i32[4]'"},
      {"  %4000000000 = add %0, %0 : i32\n}", "line 2, column 3: a value's number is at most 1048575"},
      {"  %1 = constant {bits = 1} : i32[4\n}", "line 3, column 1: expected ']', found '}'"},
      {"  if %0 else { } then { }\n}", "line 2, column 9: expected the name of an operation, found 'else'"},
      {"  yield", "line 2, column 8: expected '}' before the end of the text"},
      {"}\nx", "line 3, column 1: expected the end of the text, found 'x'"},
  };
  for (const BadText &bad : cases) {
    const Result<Function> function = parse(head + bad.body, "kernel.ir");
    ASSERT_FALSE(function.ok()) << bad.body;
    EXPECT_EQ(function.error().message, bad.message);
    EXPECT_EQ(function.error().owner, Owner::User);
    EXPECT_EQ(function.error().where.file, "kernel.ir");
  }
}

TEST(Text, DeepNestingIsRefusedNotRecursedInto) {
  std::string text = "kernel @f(%0: i1) options {waves = 1} {\n";
  for (int i = 0; i < 100000; ++i)
    text += "if %0 then {";
  const Result<Function> function = parse(text);
  ASSERT_FALSE(function.ok());
  EXPECT_NE(function.error().message.find("nested more than 64 deep"), std::string::npos);
}

TEST(Text, LargeProgramsParse) {
  std::string text = "kernel @f(%0: i32) options {waves = 4, mfma = 16, waves_per_eu = 0} {\n";
  for (int i = 1; i <= 50000; ++i)
    text += "  %" + std::to_string(i) + " = add %" + std::to_string(i - 1) + ", %0 : i32\n";
  text += "}\n";
  const Result<Function> function = parse(text);
  ASSERT_TRUE(function.ok()) << function.error().text();
  EXPECT_EQ(function->body.ops.size(), 50000u);
  EXPECT_EQ(print(*function), text);
}

} // namespace
} // namespace nereid::ir
