// After Triton's tutorial 10: C = A B of microscaled matrices, in which 32 values along k share a power of
// two. One kernel for mxfp8, mxfp4, and mxfp8 by mxfp4: the matrix instructions take each side's format as it
// is.
#include <algorithm>
#include <array>

#include "host.h"

using namespace nereid;

enum class Formats { Mxfp8, Mxfp4, Mixed };
constexpr auto nereid_config_names(Formats) {
  return std::to_array<std::string_view>({"mxfp8", "mxfp4", "mixed"});
}
constexpr Format format_a(Formats formats) { return formats == Formats::Mxfp4 ? e2m1 : e4m3; }
constexpr Format format_b(Formats formats) { return formats == Formats::Mxfp8 ? e4m3 : e2m1; }
constexpr int values_per_byte(Format format) { return format == e2m1 ? 2 : 1; }

struct MatmulConfig {
  int block_m = 64;
  int block_n = 64;
  int block_k = 256;
  Formats formats = Formats::Mxfp4;
  int waves = 4;
  int stages = 2;
  NEREID_CONFIG(MatmulConfig, block_m, block_n, block_k, formats, waves, stages)
};

/// Rows of a microscaled matrix: its codes and scales in memory, k a multiple of 32.
struct MxRows {
  Ptr<const u8> codes, scales;
  Format format;
};
struct MxBlock {
  Tile<u8> codes, scales;
};

/// Rows `row`, values first_k to first_k + block_k.
MxBlock load_mx(const MxRows &matrix, const Tile<i32> &row, const Int &row_count, const Int &k,
                const Int &first_k, int block_k) {
  const int packed = values_per_byte(matrix.format);
  Int groups = k / 32;
  Int bytes = groups * (32 / packed);
  Tile<i32> byte = first_k / packed + cols(block_k / packed);
  Tile<i32> group = first_k / 32 + cols(block_k / 32);
  return {load(matrix.codes + (row * bytes + byte), (row < row_count) & (byte < bytes)),
          load(matrix.scales + (row * groups + group), (row < row_count) & (group < groups))};
}

// a [m, k] times the transpose of b [n, k] as c [m, n], all row-major.
void block_scaled_matmul(const MatmulConfig &config, Ptr<const u8> a_codes, Ptr<const u8> a_scales,
                         Ptr<const u8> b_codes, Ptr<const u8> b_scales, Ptr<f32> c, Int m, Int n, Int k) {
  for (const Int &size : {m, n, k})
    assume((size > 0) & (size <= 1 << 20)); // offsets fit the range check of loads: masks are no branches
  const MxRows a{a_codes, a_scales, format_a(config.formats)}, b{b_codes, b_scales, format_b(config.formats)};
  Tile<i32> a_row = program_id(1) * config.block_m + rows(config.block_m);
  Tile<i32> b_row = program_id(0) * config.block_n + rows(config.block_n);
  Var sum = zeros<f32>({config.block_m, config.block_n});
  for (Int first_k : range(0, k, config.block_k)) {
    MxBlock x = load_mx(a, a_row, m, k, first_k, config.block_k);
    MxBlock y = load_mx(b, b_row, n, k, first_k, config.block_k);
    sum += dot_scaled(x.codes, x.scales, a.format, trans(y.codes), y.scales, b.format);
  }
  Tile<i32> column = program_id(0) * config.block_n + cols(config.block_n);
  store(c + (a_row * n + column), sum, (a_row < m) & (column < n));
}

/// The value of a code of e2m1 (4 bits) or e4m3 (8 bits).
double decoded(Format format, int code) {
  const int mantissa_bits = format == e2m1 ? 1 : 3, exponent_bits = format == e2m1 ? 2 : 4,
            bias = format == e2m1 ? 1 : 7;
  const int mantissa = code & ((1 << mantissa_bits) - 1);
  const int exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1);
  const bool negative = code >> (mantissa_bits + exponent_bits);
  const double magnitude = std::ldexp(exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits),
                                      std::max(exponent, 1) - bias - mantissa_bits);
  return negative ? -magnitude : magnitude;
}

/// A random matrix [rows, k] as codes and scales, and its values.
struct HostMatrix {
  std::vector<uint8_t> codes, scales;
  std::vector<double> values;

  HostMatrix(int rows, int k, Format format, uint32_t seed) {
    std::mt19937 random(seed);
    for (int group = 0; group < rows * (k / 32); ++group) {
      scales.push_back(static_cast<uint8_t>(124 + random() % 7));
      for (int i = 0; i < 32; i += values_per_byte(format)) {
        const int byte = static_cast<int>(random() % 256);
        const bool is_nan = format == e4m3 && (byte & 0x7f) == 0x7f;
        codes.push_back(static_cast<uint8_t>(is_nan ? 0 : byte));
        const double scale = std::ldexp(1.0, scales.back() - 127);
        if (format == e2m1) // the even value is in the lower half
          values.insert(values.end(), {scale * decoded(format, codes.back() & 15),
                                       scale * decoded(format, codes.back() >> 4)});
        else
          values.push_back(scale * decoded(format, codes.back()));
      }
    }
  }
};

Result<int> run(const Device &device, Formats formats) {
  const int m = 100, n = 144, k = 416;
  const HostMatrix a(m, k, format_a(formats), 1), b(n, k, format_b(formats), 2);
  NEREID_TRY(const Buffer<uint8_t> a_codes, device.upload(a.codes));
  NEREID_TRY(const Buffer<uint8_t> a_scales, device.upload(a.scales));
  NEREID_TRY(const Buffer<uint8_t> b_codes, device.upload(b.codes));
  NEREID_TRY(const Buffer<uint8_t> b_scales, device.upload(b.scales));
  NEREID_TRY(const Buffer<float> c_buffer, device.allocate<float>(m * n));

  const MatmulConfig config{.formats = formats};
  const Grid grid{cdiv(n, config.block_n), cdiv(m, config.block_m)};
  Kernel kernel("block_scaled_matmul", block_scaled_matmul);
  NEREID_CHECK(
      kernel(device.stream(), grid, config, a_codes, a_scales, b_codes, b_scales, c_buffer, m, n, k));

  NEREID_TRY(const std::vector<float> c, c_buffer.to_host());
  int wrong = 0;
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      double exact = 0, terms = 0;
      for (int i = 0; i < k; ++i) {
        const double term = a.values[row * k + i] * b.values[column * k + i];
        exact += term;
        terms += std::fabs(term);
      }
      // Sums in f32 have an error of few units in the last place of the sum of the terms.
      wrong += !(std::fabs(c[row * n + column] - exact) <= 1e-5 * terms);
    }
  return wrong;
}

Result<int> run(const Device &device) {
  int wrong = 0;
  for (Formats formats : {Formats::Mxfp8, Formats::Mxfp4, Formats::Mixed}) {
    NEREID_TRY(const int more, run(device, formats));
    wrong += more;
  }
  return wrong;
}

int main() {
  const Device device = Device::best();
  return ports::report("10_block_scaled_matmul: mxfp8, mxfp4, mixed, 100 x 144 x 416", device, run(device));
}
