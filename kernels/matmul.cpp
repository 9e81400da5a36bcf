// C = A B of row-major matrices of 16-bit floats or i8.
#include "kernels/matmul.h"

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/problem_arguments.h"

namespace nereid::kernels {
namespace {

template <class T> struct Sums {
  using Sum = f32;
  using Out = T;
};
template <> struct Sums<i8> {
  using Sum = i32;
  using Out = i32;
};

template <class T>
void matmul(const MatmulConfig &c, Ptr<const T> a, Ptr<const T> b, Ptr<typename Sums<T>::Out> out, Int m,
            Int n, Int k) {
  for (const Int &size : {m, n, k}) {
    assume(size >= 0);
    assume(size <= max_n_or_k);
  }
  const Int first_row = program_id(1) * c.block_m, first_column = program_id(0) * c.block_n;
  const Tile<i1> is_row = first_row + rows(c.block_m) < m, is_column = first_column + cols(c.block_n) < n;
  const Ptr<const T> a_rows = a + first_row.to<i64>() * k.to<i64>();
  const Ptr<const T> b_columns = b + first_column.to<i64>();
  const auto masked = [&](const Ptr<const T> &from, const Tile<i32> &offsets, const Tile<i1> &mask) {
    return c.even ? load(from + offsets) : load(from + offsets, mask);
  };
  Var total = zeros<typename Sums<T>::Sum>({c.block_m, c.block_n});
  for (Int first_k : range(0, k, c.block_k)) {
    const Tile<i32> a_k = first_k + cols(c.block_k), b_k = first_k + rows(c.block_k);
    const Tile<T> x = masked(a_rows, rows(c.block_m) * k + a_k, is_row & (a_k < k));
    const Tile<T> y = masked(b_columns, b_k * n + cols(c.block_n), (b_k < k) & is_column);
    total += dot(x, y);
  }
  const Ptr<typename Sums<T>::Out> place = out + first_row.to<i64>() * n.to<i64>() + first_column.to<i64>();
  store(place + (rows(c.block_m) * n + cols(c.block_n)), total.get().template to<typename Sums<T>::Out>(),
        is_row & is_column);
}

MatmulConfig matmul_defaults(const Partial<MatmulConfig> &given, const MaybeSize &) {
  return config_merge(MatmulConfig{}, given);
}

Status check_matmul(std::string_view kernel, const MatmulConfig &config, const MaybeSize &size) {
  const KeyValue values[] = {{"block_m", config.block_m},
                             {"block_n", config.block_n},
                             {"block_k", config.block_k},
                             {"waves", config.waves},
                             {"mfma", config.mfma}};
  NEREID_CHECK(check_values(kernel, values));
  NEREID_CHECK(check_rows(kernel, config.block_m, size));
  if (size && config.even &&
      (size->m % config.block_m != 0 || size->n % config.block_n != 0 || size->k % config.block_k != 0))
    return user_error(fmt::format("{}: {} is no multiple of the blocks", kernel, size->text()),
                      "use even=false");
  return check_elements(kernel, {"block_m", config.block_m}, {"block_n", config.block_n}, config.waves, 256);
}

Grid matmul_grid(const MatmulConfig &config, const ProblemSize &size, const MatmulOperands &) {
  return {programs(size.n, config.block_n), programs(size.m, config.block_m)};
}

template <class T>
BoundKernel bind_element(std::string_view name, const MatmulConfig &config, const ProblemSize &size,
                         const MatmulOperands &operands) {
  using Out = typename Sums<T>::Out;
  constexpr int64_t bytes = std::is_same_v<T, i8> ? 1 : 2, out_bytes = std::is_same_v<T, i8> ? 4 : 2;
  return bind_kernel<matmul<T>>(
      name, config, MemoryArgument<const T>{"a", operands.a, size.m * size.k * bytes, "[m, k]"},
      MemoryArgument<const T>{"b", operands.b, size.k * size.n * bytes, "[k, n]"},
      MemoryArgument<Out>{"out", operands.out, size.m * size.n * out_bytes, "[m, n]"},
      DimensionArgument{"m", size.m}, DimensionArgument{"n", size.n}, DimensionArgument{"k", size.k});
}

BoundKernel bind_matmul(std::string_view name, const MatmulConfig &config, const MaybeSize &size,
                        const MatmulOperands &operands) {
  const ProblemSize known = size.value_or(ProblemSize{});
  switch (config.element) {
  case MatmulElement::F16:
    return bind_element<f16>(name, config, known, operands);
  case MatmulElement::Bf16:
    return bind_element<bf16>(name, config, known, operands);
  case MatmulElement::I8:
    break;
  }
  return bind_element<i8>(name, config, known, operands);
}

} // namespace

constinit const LibraryKernel<MatmulConfig, MatmulOperands> matmul_kernel{
    .name = "matmul",
    .summary = "C = A B of row-major f16, bf16 or i8",
    .rule = {{1, max_m}, {}, {}},
    .defaults = matmul_defaults,
    .check = check_matmul,
    .grid = matmul_grid,
    .grid_terms = {{{"n", "block_n"}, {"m", "block_m"}, {}}},
    .bind = bind_matmul,
};

} // namespace nereid::kernels
