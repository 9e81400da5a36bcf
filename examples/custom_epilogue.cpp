// One product, several epilogues: a kernel is C++, and so what happens to the accumulators before they are
// stored is a function that the product is given. It is traced into the kernel; nothing is stored in between.
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include <nereid/nereid.h>

using namespace nereid;

struct MatmulConfig {
  int block_m = 64;
  int block_n = 64;
  int block_k = 64;
  int waves = 4;
  int stages = 2;
  NEREID_CONFIG(MatmulConfig, block_m, block_n, block_k, waves, stages)
};

struct Size {
  Int m, n, k;
};

/// What an epilogue gets: the sums f32 [block_m, block_n] and where they belong.
struct Accumulators {
  Tile<f32> sum;
  Tile<i32> row;    ///< [block_m, 1]
  Tile<i32> column; ///< [1, block_n]
  Tile<i1> in_bounds;
};

/// a [m, k] times the transpose of b [n, k], both row-major; the epilogue stores the result.
template <class Epilogue>
void product(const MatmulConfig &c, const Ptr<const f16> &a, const Ptr<const f16> &b, const Size &size,
             const Epilogue &epilogue) {
  const auto &[m, n, k] = size;
  for (const Int &extent : {m, n, k})
    assume((extent > 0) & (extent <= 1 << 20)); // offsets fit the range check of loads: masks are no branches
  Tile<i32> row = program_id(1) * c.block_m + rows(c.block_m);
  Tile<i32> b_row = program_id(0) * c.block_n + rows(c.block_n);
  Var sum = zeros<f32>({c.block_m, c.block_n});
  for (Int first_k : range(0, k, c.block_k)) {
    Tile<i32> depth = first_k + cols(c.block_k);
    Tile<f16> x = load(a + (row * k + depth), (row < m) & (depth < k));
    Tile<f16> y = load(b + (b_row * k + depth), (b_row < n) & (depth < k));
    sum += dot(x, trans(y));
  }
  Tile<i32> column = program_id(0) * c.block_n + cols(c.block_n);
  epilogue(Accumulators{sum, row, column, (row < m) & (column < n)});
}

// out = gelu(a b + bias).
void with_bias_and_gelu(const MatmulConfig &c, Ptr<const f16> a, Ptr<const f16> b, Ptr<const f32> bias,
                        Ptr<f16> out, Int m, Int n, Int k) {
  product(c, a, b, {m, n, k}, [&](const Accumulators &at) {
    Tile<f32> x = at.sum + load(bias + at.column, at.column < n);
    Tile<f32> gelu = 0.5F * x * (1.0F + erf(x * 0.70710678F));
    store(out + (at.row * n + at.column), gelu.to<f16>(), at.in_bounds);
  });
}

// out = a b, and the greatest magnitude of all of it, as a scale for the next product needs it. greatest is 0
// before.
void with_greatest(const MatmulConfig &c, Ptr<const f16> a, Ptr<const f16> b, Ptr<f32> greatest, Ptr<f16> out,
                   Int m, Int n, Int k) {
  product(c, a, b, {m, n, k}, [&](const Accumulators &at) {
    store(out + (at.row * n + at.column), at.sum.to<f16>(), at.in_bounds);
    Tile<f32> magnitude = where(at.in_bounds, abs(at.sum), 0.0F);
    atomic_max(greatest, max(magnitude, all_axes), Order::Relaxed);
  });
}

struct Problem {
  int m = 100, n = 144, k = 208;
  std::vector<f16> a = std::vector<f16>(m * k), b = std::vector<f16>(n * k);
  std::vector<float> bias = std::vector<float>(n);

  Problem() {
    for (int i = 0; i < m * k; ++i)
      a[i] = f16(std::sin(0.37F * static_cast<float>(i)));
    for (int i = 0; i < n * k; ++i)
      b[i] = f16(std::cos(0.11F * static_cast<float>(i)));
    for (int i = 0; i < n; ++i)
      bias[i] = std::sin(static_cast<float>(i));
  }
  double exact(int row, int column) const {
    double sum = 0;
    for (int i = 0; i < k; ++i)
      sum += double{float(a[row * k + i])} * float(b[column * k + i]);
    return sum;
  }
};

/// How many of c are wrong, where `expected` says what becomes of an exact sum in a column.
int count_wrong(const Problem &problem, const std::vector<f16> &c,
                const std::function<double(double, int)> &expected) {
  int wrong = 0;
  for (int row = 0; row < problem.m; ++row)
    for (int column = 0; column < problem.n; ++column) {
      const double exact = expected(problem.exact(row, column), column);
      wrong += !(std::fabs(float(c[row * problem.n + column]) - exact) <= 1e-3 * (1 + std::fabs(exact)));
    }
  return wrong;
}

Result<int> run(const Device &device) {
  const Problem problem;
  const auto &[m, n, k, a, b, bias] = problem;
  NEREID_TRY(const Buffer<f16> a_buffer, device.upload(a));
  NEREID_TRY(const Buffer<f16> b_buffer, device.upload(b));
  NEREID_TRY(const Buffer<float> bias_buffer, device.upload(bias));
  NEREID_TRY(const Buffer<float> greatest, device.upload(std::vector<float>{0.0F}));
  NEREID_TRY(const Buffer<f16> activated, device.allocate<f16>(m * n));
  NEREID_TRY(const Buffer<f16> plain, device.allocate<f16>(m * n));

  const MatmulConfig config;
  const Grid grid{cdiv(n, config.block_n), cdiv(m, config.block_m)};
  Kernel gelu_kernel("with_bias_and_gelu", with_bias_and_gelu);
  Kernel greatest_kernel("with_greatest", with_greatest);
  NEREID_CHECK(
      gelu_kernel(device.stream(), grid, config, a_buffer, b_buffer, bias_buffer, activated, m, n, k));
  NEREID_CHECK(greatest_kernel(device.stream(), grid, config, a_buffer, b_buffer, greatest, plain, m, n, k));

  NEREID_TRY(const std::vector<f16> gelu, activated.to_host());
  NEREID_TRY(const std::vector<f16> sums, plain.to_host());
  NEREID_TRY(const std::vector<float> found, greatest.to_host());
  double largest = 0;
  int wrong = count_wrong(problem, gelu, [&bias = bias](double sum, int column) {
    const double x = sum + bias[column];
    return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5)));
  });
  wrong += count_wrong(problem, sums, [&](double sum, int) {
    largest = std::fmax(largest, std::fabs(sum));
    return sum;
  });
  return wrong + (std::fabs(found[0] - largest) > 1e-5 * largest);
}

int main() {
  const Device device = Device::best();
  const Result<int> wrong = run(device);
  if (!wrong) {
    std::fprintf(stderr, "%s\n", wrong.error().text().c_str());
    return 1;
  }
  std::printf("custom_epilogue: 100 x 144 x 208 on %s, %d wrong\n", device.name().c_str(), *wrong);
  return *wrong == 0 ? 0 : 1;
}
