// Templates, constant tables, bf16 and f8, lambdas, generic pointers.
#include "device.hpp"

// SHA-256 of one block of 64 bytes a work-item.
constexpr unsigned root(unsigned n) {
  // The first 32 bits of the fraction of the cube root of n, by bisection in 36.64 fixed point.
  unsigned __int128 low = 0, high = static_cast<unsigned __int128>(1) << 36;
  while (high - low > 1) {
    unsigned __int128 middle = (low + high) / 2, cube = middle * middle * middle;
    (cube <= static_cast<unsigned __int128>(n) << 96 ? low : high) = middle;
  }
  return static_cast<unsigned>(low);
}
struct Rounds {
  unsigned constant[64];
  constexpr Rounds() : constant() {
    unsigned count = 0;
    for (unsigned n = 2; count < 64; ++n) {
      bool prime = true;
      for (unsigned d = 2; d * d <= n; ++d)
        prime = prime && n % d != 0;
      if (prime)
        constant[count++] = root(n);
    }
  }
};
static constexpr Rounds rounds;

static unsigned rotated(unsigned x, unsigned by) { return x >> by | x << (32 - by); }

KERNEL void sha256(const unsigned *blocks, unsigned *digests) {
  unsigned i = global_x(), w[64];
  for (unsigned t = 0; t < 16; ++t)
    w[t] = __builtin_bswap32(blocks[16 * i + t]);
  for (unsigned t = 16; t < 64; ++t) {
    unsigned a = w[t - 15], b = w[t - 2];
    w[t] = w[t - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + w[t - 7] +
           (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
  }
  unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned s[8];
  for (unsigned k = 0; k < 8; ++k)
    s[k] = h[k];
  for (unsigned t = 0; t < 64; ++t) {
    unsigned one = s[7] + (rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)) +
                   ((s[4] & s[5]) ^ (~s[4] & s[6])) + rounds.constant[t] + w[t];
    unsigned two = (rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)) +
                   ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (unsigned k = 7; k > 0; --k)
      s[k] = s[k - 1];
    s[4] += one;
    s[0] = one + two;
  }
  for (unsigned k = 0; k < 8; ++k)
    digests[8 * i + k] = h[k] + s[k];
}

typedef __bf16 Bf16Pair __attribute__((ext_vector_type(2)));
typedef float FloatPair __attribute__((ext_vector_type(2)));
KERNEL void bf16_scale(const Bf16Pair *in, Bf16Pair *out, float *sums, float factor) {
  unsigned i = global_x();
  Bf16Pair x = in[i];
  FloatPair wide = __builtin_convertvector(x, FloatPair);
  out[i] = __builtin_convertvector(wide * factor, Bf16Pair);
  sums[i] = wide.x + wide.y;
}

KERNEL void packed_floats(const FloatPair *a, const FloatPair *b, FloatPair *out, unsigned count) {
  unsigned i = global_x();
  FloatPair x = a[i], y = b[i];
  out[i] = x + y;
  out[i + count] = x * y.yx;
  out[i + 2 * count] = __builtin_elementwise_fma(x, y, -x.yx);
}

KERNEL void f8_round_trip(const float *in, unsigned *packed, float *out) {
  unsigned i = global_x();
  int word = __builtin_amdgcn_cvt_pk_fp8_f32(in[4 * i], in[4 * i + 1], 0, false);
  word = __builtin_amdgcn_cvt_pk_fp8_f32(in[4 * i + 2], in[4 * i + 3], word, true);
  packed[i] = static_cast<unsigned>(word);
  out[4 * i] = __builtin_amdgcn_cvt_f32_fp8(word, 0);
  out[4 * i + 1] = __builtin_amdgcn_cvt_f32_fp8(word, 1);
  out[4 * i + 2] = __builtin_amdgcn_cvt_f32_fp8(word, 2);
  out[4 * i + 3] = __builtin_amdgcn_cvt_f32_fp8(word, 3);
}

// One pointer of three address spaces: the choice is made at run time.
static SHARED int shared_numbers[64];
KERNEL void generic_pointers(const int *in, int *out) {
  unsigned i = item_x();
  int own[4] = {static_cast<int>(i), 7, -3, 100};
  shared_numbers[i] = in[i] * 2;
  sync();
  const int *from = i % 3 == 0 ? in + i : i % 3 == 1 ? (const int *)&shared_numbers[i ^ 1] : &own[i & 3];
  out[i] = *from;
}

// Gauss's method of least squares over a template of steps, f32 division and square root.
template <unsigned count> struct Repeat {
  template <class F> static void run(F &&step) {
    Repeat<count - 1>::run(step);
    step(count - 1);
  }
};
template <> struct Repeat<0> {
  template <class F> static void run(F &&) {}
};
KERNEL void normalised(const float *in, float *out) {
  unsigned i = global_x();
  float v[5], square = 0;
  Repeat<5>::run([&](unsigned k) {
    v[k] = in[5 * i + k];
    square += v[k] * v[k];
  });
  float length = __builtin_sqrtf(square);
  Repeat<5>::run([&](unsigned k) { out[5 * i + k] = length > 0 ? v[k] / length : 0.0f; });
}

// A global variable that work-items count in; every launch starts from its first value.
static unsigned visits = 1000;
KERNEL void global_variable(unsigned *out) {
  unsigned before = add_to(&visits, 3u);
  if (item_x() == 0)
    out[1] = before < 1000;
  sync();
  if (item_x() == 0)
    out[0] = __scoped_atomic_load_n(&visits, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

// LDS whose size the launch decides; a hidden argument says how many bytes it is.
extern __attribute__((address_space(3))) unsigned dynamic_words[];
KERNEL void reverse_in_dynamic_lds(unsigned *data) {
  const unsigned bytes = static_cast<const unsigned *>(__builtin_amdgcn_implicitarg_ptr())[30];
  const unsigned count = bytes / 4, i = item_x();
  if (i < count)
    dynamic_words[i] = data[i] + i;
  sync();
  if (i < count)
    data[i] = dynamic_words[count - 1 - i] + (bytes << 16);
}
