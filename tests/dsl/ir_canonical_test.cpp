#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "dsl/interpreter/interpreter.h"
#include "dsl/ir/canonical.h"
#include "dsl/ir/parser.h"
#include "dsl/ir/printer.h"
#include "dsl/ir/verifier.h"

namespace nereid::ir {
namespace {

Function parsed(const std::string &text) {
  Result<Function> function = parse(text);
  EXPECT_TRUE(function.ok()) << function.error().text();
  if (!function.ok())
    return {};
  const Status status = verify(*function);
  EXPECT_TRUE(status.ok()) << status.error().text();
  return *function;
}

std::string canonical_text(const std::string &text) { return print(canonicalize(parsed(text))); }

TEST(Canonical, OrdersPureOperationsByTheirUsersAndRenumbers) {
  const std::string text = canonical_text(R"(kernel @f(%7: ptr<f32>, %3: i32) options {waves = 4} {
  %20 = constant {bits = 0x40000000} : f32
  %12 = constant {bits = 5} : i32
  %11 = constant {bits = 9} : i32
  %13 = add %11, %12 : i32
  %14 = ptr_add %7, %13 : ptr<f32>
  store %14, %20
})");
  EXPECT_EQ(text, R"(kernel @f(%0: ptr<f32>, %1: i32) options {waves = 4, mfma = 16, waves_per_eu = 0} {
  %2 = constant {bits = 9} : i32
  %3 = constant {bits = 5} : i32
  %4 = add %2, %3 : i32
  %5 = ptr_add %0, %4 : ptr<f32>
  %6 = constant {bits = 0x40000000} : f32
  store %5, %6
}
)");
}

TEST(Canonical, MergesEqualOperationsWhereOneEnclosesTheOther) {
  const std::string text = canonical_text(R"(kernel @f(%0: ptr<i32>, %1: i32, %2: i32) options {waves = 4} {
  %9 = lt %1, %2 : i1
  %3 = add %1, %1 : i32
  %4 = add %1, %1 : i32
  store %0, %3
  store %0, %4
  if %9 then {
    %5 = add %1, %1 : i32
    %6 = sub %1, %1 : i32
    store %0, %5
    store %0, %6
    yield } else {
    %7 = sub %1, %1 : i32
    store %0, %7
    yield }
})");
  EXPECT_EQ(text,
            R"(kernel @f(%0: ptr<i32>, %1: i32, %2: i32) options {waves = 4, mfma = 16, waves_per_eu = 0} {
  %3 = add %1, %1 : i32
  store %0, %3
  store %0, %3
  %4 = lt %1, %2 : i1
  if %4 then {
    store %0, %3
    %5 = sub %1, %1 : i32
    store %0, %5
    yield } else {
    %6 = sub %1, %1 : i32
    store %0, %6
    yield }
}
)");
}

TEST(Canonical, AnEqualOperationBehindTheRegionServesItToo) {
  const std::string head = "kernel @f(%0: ptr<i32>, %1: i32, %2: i32) options {waves = 4} {\n";
  const std::string region =
      "%9 = lt %1, %2 : i1 if %9 then { %5 = add %1, %1 : i32 store %0, %5 yield } else { yield }\n";
  const std::string add = "%3 = add %1, %1 : i32\n";
  EXPECT_EQ(canonical_text(head + region + add + "store %0, %3 }"),
            canonical_text(head + add + region + "store %0, %3 }"));
}

TEST(Canonical, DropsWhatNothingNeedsAndKeepsEffects) {
  const std::string text = canonical_text(R"(kernel @f(%0: ptr<i32>, %9: i32) options {waves = 4} {
  %1 = ne %9, %9 : i1
  %2 = load %0 : i32
  %3 = load %0 : i32
  %4 = add %2, %2 : i32
  %5 = atomic_add %0, %3 {order = "relaxed", scope = "device"} : i32
  assume %1
  device_assert %1 {message = "m"}
  device_print %3 {message = "p"}
})");
  EXPECT_EQ(text, R"(kernel @f(%0: ptr<i32>, %1: i32) options {waves = 4, mfma = 16, waves_per_eu = 0} {
  %2 = load %0 : i32
  %3 = atomic_add %0, %2 {order = "relaxed", scope = "device"} : i32
  %4 = ne %1, %1 : i1
  assume %4
  device_assert %4 {message = "m"}
  device_print %2 {message = "p"}
}
)");
}

TEST(Canonical, LoadsAreNeverMergedOrReordered) {
  const std::string body = R"(
  %2 = load %0 : i32
  store %1, %2
  %3 = load %0 : i32
  store %1, %3
})";
  const std::string text =
      canonical_text("kernel @f(%0: ptr<i32>, %1: ptr<i32>) options {waves = 4} {" + body);
  EXPECT_NE(text.find("{" + body.substr(0, body.size() - 1) + "}\n"), std::string::npos) << text;
}

TEST(Canonical, DifferentAttributesAndTypesStayApart) {
  const std::string text = canonical_text(R"(kernel @f(%0: ptr<i32>) options {waves = 4} {
  %2 = program_id {axis = 0} : i32
  %3 = program_id {axis = 1} : i32
  %4 = constant {bits = 1} : i32
  %5 = constant {bits = 1} : u32
  %6 = bitcast %5 : i32
  %7 = sub %2, %3 : i32
  %8 = sub %4, %6 : i32
  store %0, %7
  store %0, %8
})");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11) << text;
}

TEST(Canonical, HostFunctionsAreNumberedInOrder) {
  Function function = parsed(R"(kernel @f(%0: ptr<i32>, %1: i32) options {waves = 4} {
  %2 = inline_asm %1 {asm = "a", constraints = "=v,v", host = 0} : i32
  %3 = inline_asm %1 {asm = "b", constraints = "=v,v", host = 1} : i32
  %4 = sub %3, %2 : i32
  store %0, %4
})");
  function.host_functions = {[](const std::vector<uint64_t> &) { return uint64_t{10}; },
                             [](const std::vector<uint64_t> &) { return uint64_t{20}; }};
  const Function result = canonicalize(function);
  ASSERT_EQ(result.host_functions.size(), 2u);
  EXPECT_EQ(result.body.ops[0].string("asm"), "b");
  EXPECT_EQ(result.body.ops[0].integer("host"), 0);
  EXPECT_EQ(result.host_functions[0]({}), 20u);
  EXPECT_EQ(result.host_functions[1]({}), 10u);
}

TEST(Canonical, OperationsKeepTheirPlaces) {
  Function function = parsed("kernel @f(%0: ptr<i32>, %1: i32) options {waves = 4} {\n"
                             "%2 = neg %1 : i32 %3 = neg %2 : i32 store %0, %3 }");
  function.locations = {{}, {"k.cpp", 1}, {"k.cpp", 2}, {"k.cpp", 3}};
  for (uint32_t i = 0; i < 3; ++i)
    function.body.ops[i].location = i + 1;
  const Function result = canonicalize(function);
  for_each_op(result, [&](const Op &op, unsigned line) { EXPECT_EQ(result.location(op).line, line); });
}

/// Moves pure operations about at random, as far as their operands and users in the block allow.
void shuffle(Block &block, std::mt19937 &random) {
  std::vector<Op> ops = std::move(block.ops);
  block.ops.clear();
  std::set<ValueId> waiting;
  for (const Op &op : ops)
    waiting.insert(op.results.begin(), op.results.end());
  const std::function<bool(const Op &)> ready = [&](const Op &op) {
    for (ValueId operand : op.operands)
      if (waiting.count(operand) != 0)
        return false;
    for (const Block &inner : op.blocks)
      for (const Op &nested : inner.ops)
        if (!ready(nested))
          return false;
    return true;
  };
  while (!ops.empty()) {
    // Candidates: every ready pure operation, and the first of the others.
    std::vector<size_t> candidates;
    bool anchored = false;
    for (size_t i = 0; i < ops.size(); ++i) {
      const bool pure = facts(ops[i].opcode).effect == OpEffect::Pure;
      if (ready(ops[i]) && (pure || !anchored))
        candidates.push_back(i);
      anchored = anchored || !pure;
    }
    const bool last_is_yield = ops.back().opcode == Opcode::Yield;
    if (last_is_yield && ops.size() > 1)
      std::erase(candidates, ops.size() - 1);
    const size_t chosen = candidates[random() % candidates.size()];
    for (ValueId result : ops[chosen].results)
      waiting.erase(result);
    block.ops.push_back(std::move(ops[chosen]));
    ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  for (Op &op : block.ops)
    for (Block &inner : op.blocks)
      shuffle(inner, random);
}

/// A random kernel: pure operations over what is visible, loads, stores, loops and branches.
void fill(Function &function, Block &block, std::vector<ValueId> scope, unsigned depth,
          std::mt19937 &random) {
  const Type type = Type::scalar(Element::I32);
  const auto any = [&] { return scope[random() % scope.size()]; };
  const auto emit = [&](Opcode opcode, std::vector<ValueId> operands, bool result,
                        Attributes attributes = {}) -> Op & {
    Op op;
    op.opcode = opcode;
    op.operands = std::move(operands);
    op.attributes = std::move(attributes);
    if (result) {
      op.results = {function.new_value(type)};
      scope.push_back(op.results[0]);
    }
    block.ops.push_back(std::move(op));
    return block.ops.back();
  };
  for (int i = 0; i < 14; ++i) {
    switch (random() % 8) {
    case 0:
      emit(Opcode::Constant, {}, true, {{"bits", int64_t(random() % 3)}});
      break;
    case 1:
      emit(Opcode::Load, {0}, true);
      break;
    case 2:
      emit(Opcode::Store, {0, any()}, false);
      break;
    case 3: {
      if (depth == 2)
        break;
      Op op;
      op.opcode = Opcode::For;
      op.operands = {2, 3, 4, any()}; // 0, 3 and 1: see below
      op.results = {function.new_value(type)};
      Block &body = op.blocks.emplace_back();
      body.arguments = {function.new_value(type), function.new_value(type)};
      std::vector<ValueId> inner = scope;
      inner.insert(inner.end(), body.arguments.begin(), body.arguments.end());
      fill(function, body, inner, depth + 1, random);
      scope.push_back(op.results[0]);
      block.ops.push_back(std::move(op));
      break;
    }
    default:
      emit(random() % 2 == 0 ? Opcode::Add : Opcode::Sub, {any(), any()}, true);
    }
  }
  if (depth != 0)
    emit(Opcode::Yield, {any()}, false);
}

/// Runs a random kernel on one number in memory.
int32_t memory_after(const Function &function) {
  int32_t number = 17;
  HostMemory memory;
  EXPECT_TRUE(memory.add(&number, sizeof number).ok());
  const InterpretArgument arguments[] = {InterpretArgument::pointer(&number), InterpretArgument::i32(5),
                                         InterpretArgument::i32(0), InterpretArgument::i32(3),
                                         InterpretArgument::i32(1)};
  const Status status = interpret(function, {1, 1, 1}, arguments, memory);
  EXPECT_TRUE(status.ok()) << status.error().text();
  return number;
}

TEST(Canonical, TheOrderOfPureOperationsDoesNotMatter) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    Function function;
    function.name = "random";
    function.arguments.push_back({function.new_value(Type::pointer_to(Element::I32))});
    for (int i = 0; i < 4; ++i)
      function.arguments.push_back({function.new_value(Type::scalar(Element::I32))});
    fill(function, function.body, {1}, 0, random);
    ASSERT_TRUE(verify(function).ok()) << verify(function).error().text();
    const Function canonical = canonicalize(function);
    const std::string text = print(canonical);
    ASSERT_TRUE(verify(canonical).ok()) << verify(canonical).error().text() << text;
    EXPECT_EQ(print(canonicalize(canonical)), text) << "not idempotent, seed " << seed;
    EXPECT_EQ(memory_after(canonical), memory_after(function)) << "another meaning, seed " << seed;
    for (int round = 0; round < 5; ++round) {
      Function shuffled = function;
      shuffle(shuffled.body, random);
      ASSERT_TRUE(verify(shuffled).ok()) << verify(shuffled).error().text();
      EXPECT_EQ(print(canonicalize(shuffled)), text) << "seed " << seed;
    }
  }
}

TEST(Canonical, LongChainsNeedNoStack) {
  std::string text = "kernel @f(%0: i32, %1: ptr<i32>) options {waves = 4} {\n %2 = neg %0 : i32\n";
  for (int i = 3; i < 30000; ++i)
    text += "%" + std::to_string(i) + " = add %" + std::to_string(i - 1) + ", %0 : i32\n";
  text += "store %1, %29999 }";
  EXPECT_EQ(canonicalize(parsed(text)).body.ops.size(), 29999u);
}

} // namespace
} // namespace nereid::ir
