// After Triton's tutorial 5: layer norm, forward and backward.
//
//   forward   y = w (x - mean) / deviation + b, with mean and deviation of each row
//   backward  dx of each row; dw and db are sums over all rows
//
// Programs of the backward pass walk over rows and keep their parts of dw and db in registers. A second
// kernel adds the parts: no locks and no atomics, and the same bits in every run.
#include "host.h"

using namespace nereid;

struct ForwardConfig {
  int block = 512; // columns at a time
  int waves = 2;
  NEREID_CONFIG(ForwardConfig, block, waves)
};

// x, y f16 [.., n]; w, b f16 [n]; mean and reciprocal deviation f32, one a row.
void forward(const ForwardConfig &c, Ptr<const f16> x, Ptr<const f16> w, Ptr<const f16> b, Ptr<f16> y,
             Ptr<f32> mean, Ptr<f32> rstd, Int n, Float epsilon) {
  Int row = program_id(0);
  Tile<i32> lane = arange(0, c.block);
  Var total = zeros<f32>({c.block});
  for (Int first : range(0, n, c.block))
    total += load(x + row * n + (first + lane), first + lane < n).to<f32>();
  Float average = sum(total, axis(0)) / n.to<f32>();

  Var squares = zeros<f32>({c.block});
  for (Int first : range(0, n, c.block)) {
    Tile<i1> in_bounds = first + lane < n;
    Tile<f32> value = load(x + row * n + (first + lane), in_bounds).to<f32>();
    Tile<f32> centred = where(in_bounds, value - average, 0.0F);
    squares += centred * centred;
  }
  Float reciprocal = rsqrt(sum(squares, axis(0)) / n.to<f32>() + epsilon);
  store(mean + row, average);
  store(rstd + row, reciprocal);

  for (Int first : range(0, n, c.block)) {
    Tile<i32> column = first + lane;
    Tile<i1> in_bounds = column < n;
    Tile<f32> normal = (load(x + row * n + column, in_bounds).to<f32>() - average) * reciprocal;
    Tile<f32> weight = load(w + column, in_bounds).to<f32>();
    Tile<f32> bias = load(b + column, in_bounds).to<f32>();
    store(y + row * n + column, (normal * weight + bias).to<f16>(), in_bounds);
  }
}

struct BackwardConfig {
  int block = 1024; // at least a row's length
  int waves = 4;
  NEREID_CONFIG(BackwardConfig, block, waves)
};

// dy, dx f16 [m, n]; parts f32 [programs, n] of dw and db.
void backward(const BackwardConfig &c, Ptr<const f16> x, Ptr<const f16> w, Ptr<const f32> mean,
              Ptr<const f32> rstd, Ptr<const f16> dy, Ptr<f16> dx, Ptr<f32> dw_parts, Ptr<f32> db_parts,
              Int m, Int n) {
  Tile<i32> column = arange(0, c.block);
  Tile<i1> in_bounds = column < n;
  Tile<f32> weight = load(w + column, in_bounds).to<f32>();
  Var dw = zeros<f32>({c.block});
  Var db = zeros<f32>({c.block});
  for (Int row : range(program_id(0), m, num_programs(0))) {
    Float reciprocal = load(rstd + row);
    Tile<f32> value = load(x + row * n + column, in_bounds).to<f32>();
    Tile<f32> slope = load(dy + row * n + column, in_bounds).to<f32>();
    Tile<f32> normal = where(in_bounds, (value - load(mean + row)) * reciprocal, 0.0F);
    Tile<f32> weighted = weight * slope;
    Float along_normal = sum(normal * weighted, axis(0)) / n.to<f32>();
    Float along_mean = sum(weighted, axis(0)) / n.to<f32>();
    Tile<f32> result = (weighted - (normal * along_normal + along_mean)) * reciprocal;
    store(dx + row * n + column, result.to<f16>(), in_bounds);
    dw += slope * normal;
    db += slope;
  }
  store(dw_parts + program_id(0) * n + column, dw, in_bounds);
  store(db_parts + program_id(0) * n + column, db, in_bounds);
}

struct SumConfig {
  int block_m = 32;
  int block_n = 128;
  int waves = 4;
  NEREID_CONFIG(SumConfig, block_m, block_n, waves)
};

// The sums over the rows of dw_parts and db_parts f32 [m, n].
void sum_parts(const SumConfig &c, Ptr<const f32> dw_parts, Ptr<const f32> db_parts, Ptr<f16> dw, Ptr<f16> db,
               Int m, Int n) {
  Tile<i32> column = program_id(0) * c.block_n + cols(c.block_n);
  Var dw_sum = zeros<f32>({c.block_m, c.block_n});
  Var db_sum = zeros<f32>({c.block_m, c.block_n});
  for (Int first : range(0, m, c.block_m)) {
    Tile<i32> row = first + rows(c.block_m);
    Tile<i1> in_bounds = (row < m) & (column < n);
    dw_sum += load(dw_parts + (row * n + column), in_bounds);
    db_sum += load(db_parts + (row * n + column), in_bounds);
  }
  store(dw + column, sum(dw_sum, keep_axis(0)).to<f16>(), column < n);
  store(db + column, sum(db_sum, keep_axis(0)).to<f16>(), column < n);
}

/// What the kernels compute, in double precision.
struct Exact {
  std::vector<double> y, dx, dw, db;

  Exact(const std::vector<f16> &x, const std::vector<f16> &w, const std::vector<f16> &b,
        const std::vector<f16> &dy, int m, int n, double epsilon)
      : dw(n), db(n) {
    std::vector<double> normal(n), weighted(n);
    for (int row = 0; row < m; ++row) {
      const f16 *xs = &x[row * n], *slopes = &dy[row * n];
      double mean = 0, variance = 0, along_normal = 0, along_mean = 0;
      for (int i = 0; i < n; ++i)
        mean += float(xs[i]) / double(n);
      for (int i = 0; i < n; ++i)
        variance += (float(xs[i]) - mean) * (float(xs[i]) - mean) / n;
      const double reciprocal = 1 / std::sqrt(variance + epsilon);
      for (int i = 0; i < n; ++i) {
        normal[i] = (float(xs[i]) - mean) * reciprocal;
        weighted[i] = double{float(w[i])} * float(slopes[i]);
        along_normal += normal[i] * weighted[i] / n;
        along_mean += weighted[i] / n;
        dw[i] += float(slopes[i]) * normal[i];
        db[i] += float(slopes[i]);
        y.push_back(normal[i] * float(w[i]) + float(b[i]));
      }
      for (int i = 0; i < n; ++i)
        dx.push_back((weighted[i] - (normal[i] * along_normal + along_mean)) * reciprocal);
    }
  }
};

Result<int> run(const Device &device) {
  const int m = 67, n = 781, programs = 16;
  const float epsilon = 1e-5F;
  const std::vector<f16> x = ports::uniform<f16>(m * n, 1), w = ports::uniform<f16>(n, 2),
                         b = ports::uniform<f16>(n, 3), dy = ports::uniform<f16>(m * n, 4);
  NEREID_TRY(const Buffer<f16> x_buffer, device.upload(x));
  NEREID_TRY(const Buffer<f16> w_buffer, device.upload(w));
  NEREID_TRY(const Buffer<f16> b_buffer, device.upload(b));
  NEREID_TRY(const Buffer<f16> dy_buffer, device.upload(dy));
  NEREID_TRY(const Buffer<f16> y, device.allocate<f16>(m * n));
  NEREID_TRY(const Buffer<f16> dx, device.allocate<f16>(m * n));
  NEREID_TRY(const Buffer<f16> dw, device.allocate<f16>(n));
  NEREID_TRY(const Buffer<f16> db, device.allocate<f16>(n));
  NEREID_TRY(const Buffer<float> mean, device.allocate<float>(m));
  NEREID_TRY(const Buffer<float> rstd, device.allocate<float>(m));
  NEREID_TRY(const Buffer<float> dw_parts, device.allocate<float>(programs * n));
  NEREID_TRY(const Buffer<float> db_parts, device.allocate<float>(programs * n));

  const Stream stream = device.stream();
  Kernel forward_kernel("layer_norm", forward);
  Kernel backward_kernel("layer_norm_backward", backward);
  Kernel sum_kernel("layer_norm_sum_parts", sum_parts);
  const SumConfig sum_config;
  NEREID_CHECK(forward_kernel(stream, {m}, {}, x_buffer, w_buffer, b_buffer, y, mean, rstd, n, epsilon));
  NEREID_CHECK(backward_kernel(stream, {programs}, {}, x_buffer, w_buffer, mean, rstd, dy_buffer, dx,
                               dw_parts, db_parts, m, n));
  NEREID_CHECK(
      sum_kernel(stream, {cdiv(n, sum_config.block_n)}, sum_config, dw_parts, db_parts, dw, db, programs, n));

  const Exact exact(x, w, b, dy, m, n, epsilon);
  const double tolerance = 0x1p-11 + 1e-5; // a rounding to f16, and those of the sums
  int wrong = 0;
  for (const auto &[buffer, reference] : {std::pair(&y, &exact.y), std::pair(&dx, &exact.dx),
                                          std::pair(&dw, &exact.dw), std::pair(&db, &exact.db)}) {
    NEREID_TRY(const std::vector<f16> values, buffer->to_host());
    wrong += ports::count_wrong(values, *reference, tolerance);
  }
  return wrong;
}

int main() {
  const Device device = Device::best();
  return ports::report("05_layer_norm: 67 x 781", device, run(device));
}
