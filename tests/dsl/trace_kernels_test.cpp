#include "tests/dsl/trace_support.h"

#include "dsl/ir/parser.h"
#include "dsl/ir/verifier.h"

namespace nereid::test {
namespace {

struct AddConfig {
  int block = 1024;
  int waves = 4;
  NEREID_CONFIG(AddConfig, block, waves)
};

void add(const AddConfig &c, Ptr<const f32> x, Ptr<const f32> y, Ptr<f32> z, Int n) {
  Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  Tile<i1> in_range = i < n;
  Tile<f32> a = load(x + i, in_range);
  Tile<f32> b = load(y + i, in_range);
  store(z + i, a + b, in_range);
}

TEST(TraceKernels, VectorAdd) {
  Result<ir::Function> f = trace("add", add, AddConfig{.block = 256, .waves = 2});
  ASSERT_TRUE(f.ok()) << f.error().text();
  EXPECT_EQ(
      ir::print(*f),
      R"(kernel @add(%0: ptr<f32> {read_only}, %1: ptr<f32> {read_only}, %2: ptr<f32>, %3: i32) options {waves = 2, mfma = 16, waves_per_eu = 0} {
  %4 = broadcast %0 : ptr<f32>[256]
  %5 = program_id {axis = 0} : i32
  %6 = constant {bits = 256} : i32
  %7 = mul %5, %6 : i32
  %8 = broadcast %7 : i32[256]
  %9 = arange {start = 0} : i32[256]
  %10 = add %8, %9 : i32[256]
  %11 = ptr_add %4, %10 : ptr<f32>[256]
  %12 = broadcast %3 : i32[256]
  %13 = lt %10, %12 : i1[256]
  %14 = load %11, %13 : f32[256]
  %15 = broadcast %1 : ptr<f32>[256]
  %16 = ptr_add %15, %10 : ptr<f32>[256]
  %17 = load %16, %13 : f32[256]
  %18 = broadcast %2 : ptr<f32>[256]
  %19 = ptr_add %18, %10 : ptr<f32>[256]
  %20 = add %14, %17 : f32[256]
  store %19, %20, %13
}
)");
}

TEST(TraceKernels, LoadsOfOneExpressionAreInTheOrderOfDataFlow) {
  // A C++ compiler may run either load of an expression first.
  EXPECT_EQ(body_of([](const Inputs &in) {
              Tile<f32> late = load(in.p + 4);
              store(in.p, load(in.p + 1) - load(in.p + 2) * load(in.p + load(in.q)));
              store(in.p, late);
            }),
            R"(  %7 = constant {bits = 4} : i32
  %8 = ptr_add %0, %7 : ptr<f32>
  %9 = load %8 : f32
  %10 = constant {bits = 1} : i32
  %11 = ptr_add %0, %10 : ptr<f32>
  %12 = load %11 : f32
  %13 = constant {bits = 2} : i32
  %14 = ptr_add %0, %13 : ptr<f32>
  %15 = load %14 : f32
  %16 = load %1 : i32
  %17 = ptr_add %0, %16 : ptr<f32>
  %18 = load %17 : f32
  %19 = mul %15, %18 : f32
  %20 = sub %12, %19 : f32
  store %0, %20
  store %0, %9
)");
}

TEST(TraceKernels, PlacesAreTheUsersLines) {
  Result<ir::Function> f = trace("add", add, AddConfig{});
  ASSERT_TRUE(f.ok());
  std::vector<unsigned> lines;
  ir::for_each_op(*f, [&](const ir::Op &op, unsigned) {
    if (op.opcode == ir::Opcode::Load || op.opcode == ir::Opcode::Store)
      lines.push_back(f->location(op).line);
    EXPECT_TRUE(f->location(op).file.ends_with("trace_kernels_test.cpp"));
  });
  EXPECT_EQ(lines, (std::vector<unsigned>{18, 19, 20}));
}

TEST(TraceKernels, ArgumentFactsAreInTheFunction) {
  Result<ir::Function> f =
      trace("add", add, AddConfig{},
            {{.divisibility = 16, .name = "x"}, {}, {.divisibility = 8}, {.constant = 512}});
  ASSERT_TRUE(f.ok()) << f.error().text();
  EXPECT_EQ(f->arguments[0].divisibility, 16);
  EXPECT_TRUE(f->arguments[0].read_only);
  EXPECT_FALSE(f->arguments[2].read_only);
  EXPECT_EQ(f->arguments[3].constant, 512);
  EXPECT_EQ(f->argument_names, (std::vector<std::string>{"x", "", "", ""}));
  EXPECT_NE(ir::print(*f).find("constant {bits = 512} : i32[1024]"), std::string::npos) << ir::print(*f);
}

struct GemmConfig {
  int block_m = 16, block_n = 32, block_k = 256, stages = 3, mfma = 32, waves_per_eu = 2;
  NEREID_CONFIG(GemmConfig, block_m, block_n, block_k, stages, mfma, waves_per_eu)
};

void gemm(const GemmConfig &c, Ptr<const bf16> a, Ptr<const u8> b, Ptr<const u8> b_scales, Ptr<bf16> out,
          Int m, Int n, Int k) {
  Int tiles_n = cdiv(n, c.block_n);
  Int pid = program_id(0);
  Int pid_m = pid / tiles_n, pid_n = pid % tiles_n;
  Tile<i32> rows = pid_m * c.block_m + arange(0, c.block_m);
  Tile<i32> groups = pid_n * (c.block_n / 16) + arange(0, c.block_n / 16);
  Tile<i32> columns = pid_n * c.block_n + arange(0, c.block_n);
  Var a_ptr = a + col(rows % m) * k + row(arange(0, c.block_k));
  Var b_ptr = b + col(groups) * (k * 8) + row(arange(0, c.block_k * 8));
  Var s_ptr = b_scales + col(columns) * (k / 32) + row(arange(0, c.block_k / 32));
  Var acc = zeros<f32>({c.block_m, c.block_n});
  for (Int step : range(0, cdiv(k, c.block_k))) {
    auto [codes, scales] = quantize(load(a_ptr).to<f32>(), e2m1);
    Tile<u8> wide = reshape(load(b_ptr), {c.block_n / 16, c.block_k / 64, 2, 16, 16});
    Tile<u8> b_tile = reshape(permute(wide, {1, 2, 4, 0, 3}), {c.block_k / 2, c.block_n});
    Tile<u8> b_scale = load(s_ptr);
    acc += dot_scaled(codes, scales, e2m1, b_tile, b_scale, e2m1);
    a_ptr += c.block_k;
    b_ptr += c.block_k * 8;
    s_ptr += c.block_k / 32;
  }
  store(out + col(rows) * n + row(columns), acc.to<bf16>(), (col(rows) < m) & (row(columns) < n));
}

TEST(TraceKernels, FusedGemm) {
  Result<ir::Function> f = trace("gemm", gemm, GemmConfig{});
  ASSERT_TRUE(f.ok()) << f.error().text();
  EXPECT_EQ(f->options, (ir::CompileOptions{.waves = 4, .mfma = 32, .waves_per_eu = 2}));
  const ir::Op *loop = nullptr;
  for (const ir::Op &op : f->body.ops)
    if (op.opcode == ir::Opcode::For)
      loop = &op;
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->integer("stages"), 3);
  EXPECT_EQ(loop->results.size(), 1u); // the pointers are functions of the index
  std::vector<std::string> body;
  for (const ir::Op &op : loop->blocks[0].ops)
    body.emplace_back(ir::facts(op.opcode).name);
  EXPECT_EQ(body.back(), "yield");
  std::string text = ir::print(*f);
  EXPECT_NE(text.find("{format_a = \"e2m1\", format_b = \"e2m1\"} : f32[16, 32]"), std::string::npos) << text;
  EXPECT_NE(text.find("permute"), std::string::npos);
  Result<ir::Function> again = ir::parse(text);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(ir::print(*again), text);
  EXPECT_TRUE(ir::verify(*again).ok());
}

TEST(TraceKernels, ACallableKernelAndItsCaptures) {
  int scale = 3;
  auto kernel = [scale](const NoConfig &, Ptr<i32> p, Int n) { store(p, n * scale); };
  Result<ir::Function> f = trace("scaled", kernel, NoConfig{});
  ASSERT_TRUE(f.ok()) << f.error().text();
  EXPECT_NE(ir::print(*f).find("constant {bits = 3} : i32"), std::string::npos);
}

TEST(TraceKernels, PlainControlFlowIsMetaProgramming) {
  struct Unroll {
    int times;
  };
  auto kernel = [](const Unroll &c, Ptr<i32> p, Int n) {
    Var sum = n;
    for (int i = 0; i < c.times; ++i)
      sum += sum;
    if (c.times > 2)
      store(p + 1, 7);
    store(p, sum);
  };
  auto count = [&](int times, ir::Opcode opcode) {
    Result<ir::Function> f = trace("unroll", kernel, Unroll{times});
    int found = 0;
    ir::for_each_op(*f, [&](const ir::Op &op, unsigned) { found += op.opcode == opcode; });
    return found;
  };
  EXPECT_EQ(count(2, ir::Opcode::Add), 2);
  EXPECT_EQ(count(5, ir::Opcode::Add), 5);
  EXPECT_EQ(count(2, ir::Opcode::Store), 1);
  EXPECT_EQ(count(5, ir::Opcode::Store), 2);
}

} // namespace
} // namespace nereid::test
