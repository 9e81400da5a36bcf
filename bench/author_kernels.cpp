// Machine code of kernels as authors write them, for bench/codegen_quality.py: a name, a config, and the
// assembler text on stdout after a line with the milliseconds that compiling took.
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "dsl/dsl.h"
#include "jit/kernel.h"

using namespace nereid;

namespace {

/// What a kernel's tile is; each kernel reads those that it has.
struct AuthorConfig {
  int rows = 1;
  int columns = 1024;
  int depth = 256; ///< of a product, a step along K
  int waves = 1;
  int stages = 2;
  bool fast = false;
  NEREID_CONFIG(AuthorConfig, rows, columns, depth, waves, stages, fast)

  Tile<i32> offsets() const { return (program_id(0) * rows + nereid::rows(rows)) * columns + cols(columns); }
};

/// Rows that fill the tile.
void softmax(const AuthorConfig &c, Ptr<const f32> x, Ptr<f32> y) {
  const Tile<f32> value = load(x + c.offsets());
  const Tile<f32> shifted = value - max(value, keep_axis(1));
  const Tile<f32> weight = c.fast ? fast::exp(shifted) : exp(shifted);
  const Tile<f32> total = sum(weight, keep_axis(1));
  store(y + c.offsets(), c.fast ? fast::div(weight, total) : weight / total);
}

/// Rows of any length that fits.
void softmax_masked(const AuthorConfig &c, Ptr<const f32> x, Ptr<f32> y, Int columns) {
  const Tile<i32> column = cols(c.columns);
  const Tile<i1> in_bounds = broadcast(column < columns, {c.rows, c.columns});
  const Tile<i32> at = (program_id(0) * c.rows + rows(c.rows)) * columns + column;
  const Tile<f32> value = load(x + at, in_bounds, -INFINITY);
  const Tile<f32> weight = exp(value - max(value, keep_axis(1)));
  store(y + at, weight / sum(weight, keep_axis(1)), in_bounds);
}

template <class T>
void layer_norm(const AuthorConfig &c, Ptr<const T> x, Ptr<const T> weight, Ptr<const T> bias, Ptr<T> y,
                Float epsilon) {
  const float share = 1 / static_cast<float>(c.columns);
  const Tile<i32> column = cols(c.columns);
  const Tile<f32> value = load(x + c.offsets()).template to<f32>();
  const Tile<f32> centred = value - sum(value, keep_axis(1)) * share;
  const Tile<f32> variance = sum(centred * centred, keep_axis(1)) * share;
  const Tile<f32> scaled = centred * rsqrt(variance + epsilon) * load(weight + column).template to<f32>();
  store(y + c.offsets(), (scaled + load(bias + column).template to<f32>()).template to<T>());
}

/// A fast Hadamard transform of each row by split and join.
template <class T> void hadamard(const AuthorConfig &c, Ptr<const T> x, Ptr<T> y) {
  Var value = load(x + c.offsets()).template to<f32>();
  for (int distance = 1; distance < c.columns; distance *= 2) {
    const ir::Shape pairs = {c.rows, c.columns / 2 / distance, 2, distance};
    const auto [low, high] = split(permute(reshape(value.get(), pairs), {0, 1, 3, 2}));
    value = reshape(permute(join(low + high, low - high), {0, 1, 3, 2}), {c.rows, c.columns});
  }
  store(y + c.offsets(), value.get().template to<T>());
}

/// C = A B' of e2m1 codes with plain scales, [rows, K / 32] each.
void scaled_product(const AuthorConfig &c, Ptr<const u8> a, Ptr<const u8> a_scales, Ptr<const u8> b,
                    Ptr<const u8> b_scales, Ptr<f32> out, Int n, Int k, Int pitch) {
  assume(n >= 1);
  assume(n <= 65536);
  assume(k >= 1);
  assume(k <= 65536);
  assume(pitch >= 1); // of the scales' rows
  assume(pitch <= 2048);
  const Tile<i32> row = program_id(0) * c.rows + rows(c.rows);
  const Tile<i32> b_row = program_id(1) * c.columns + rows(c.columns);
  Var sum = zeros<f32>({c.rows, c.columns});
  for (Int step : range(0, k, c.depth, {.stages = c.stages})) {
    const Tile<i32> byte = step / 2 + cols(c.depth / 2), group = step / 32 + cols(c.depth / 32);
    sum += dot_scaled(load(a + row * (k / 2) + byte), load(a_scales + row * pitch + group), e2m1,
                      trans(load(b + b_row * (k / 2) + byte)), load(b_scales + b_row * pitch + group), e2m1);
  }
  store(out + row * n + program_id(1) * c.columns + cols(c.columns), sum.get());
}

/// A tile of rows that begin at any element.
void copy_rows(const AuthorConfig &c, Ptr<const f16> x, Ptr<f16> y, Int pitch) {
  const Tile<i32> at = rows(c.rows) * pitch + cols(c.columns);
  store(y + at, load(x + at));
}

const ArgumentFacts even{.divisibility = 16}, any{};

/// The text of a kernel whose launches know `facts` of its arguments.
template <class K>
Result<std::string> code(std::string_view name, const K &kernel, const AuthorConfig &config,
                         const std::vector<ArgumentFacts> &facts) {
  NEREID_TRY(const auto compiled,
             Kernel(std::string(name), kernel).compile(config, facts, Device::simulator()));
  NEREID_TRY(const std::string text, compiled->isa());
  return fmt::format("; compiled in {:.0f} ms\n{}", compiled->times().total(), text);
}

Result<std::string> code_of(std::string_view name, const AuthorConfig &config) {
  const auto made = [&](const auto &kernel, const std::vector<ArgumentFacts> &facts) {
    return code(name, kernel, config, facts);
  };
  if (name == "softmax")
    return made(softmax, {even, even});
  if (name == "softmax_masked")
    return made(softmax_masked, {even, even, even});
  if (name == "layer_norm_f16")
    return made(layer_norm<f16>, {even, even, even, even, any});
  if (name == "layer_norm_bf16")
    return made(layer_norm<bf16>, {even, even, even, even, any});
  if (name == "hadamard")
    return made(hadamard<f32>, {even, even});
  if (name == "hadamard_f16")
    return made(hadamard<f16>, {even, even});
  if (name == "scaled_product")
    return made(scaled_product, {even, even, even, even, even, even, even, even});
  if (name == "copy_rows")
    return made(copy_rows, {even, even, any});
  return user_error(fmt::format("there is no kernel {}", name));
}

Status run(int count, char **arguments) {
  if (count != 3)
    return user_error("usage: author_kernels KERNEL key=value,...");
  AuthorConfig config;
  NEREID_CHECK(config_parse(config, arguments[2]));
  NEREID_TRY(const std::string text, code_of(arguments[1], config));
  std::fputs(text.c_str(), stdout);
  return {};
}

} // namespace

int main(int count, char **arguments) {
  const Status status = run(count, arguments);
  if (!status)
    std::fprintf(stderr, "%s\n", status.error().text().c_str());
  return status ? 0 : 1;
}
