// Functions that are not inlined: recursion, pointers to functions, virtual functions, many arguments.
#include "device.hpp"

[[gnu::noinline]] static unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0)
    return n + 1;
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

KERNEL void ackermann_values(unsigned *out) {
  unsigned i = global_x();
  out[i] = ackermann(i & 1, i >> 1 & 7) + ackermann(2, i & 3);
}

[[gnu::noinline]] static void quick_sort(int *first, int *last) {
  while (last - first > 1) {
    int pivot = first[(last - first) / 2], *low = first, *high = last - 1;
    while (low <= high) {
      while (*low < pivot)
        ++low;
      while (pivot < *high)
        --high;
      if (low <= high) {
        int kept = *low;
        *low++ = *high;
        *high-- = kept;
      }
    }
    quick_sort(first, high + 1);
    first = low;
  }
}

// Every work-item sorts 16 numbers in its private memory.
KERNEL void sort_rows(const int *in, int *out) {
  int row[16];
  for (unsigned k = 0; k < 16; ++k)
    row[k] = in[16 * global_x() + k];
  quick_sort(row, row + 16);
  for (unsigned k = 0; k < 16; ++k)
    out[16 * global_x() + k] = row[k];
}

[[gnu::noinline]] static int plus(int a, int b) { return a + b; }
[[gnu::noinline]] static int times(int a, int b) { return a * b; }
[[gnu::noinline]] static int less(int a, int b) { return a < b ? 1 : -1; }
[[gnu::noinline]] static int mixed(int a, int b) { return plus(times(a, 3), b) ^ less(a, b); }

// Lanes of one wave call different functions through a table in constant memory.
static int (*const operations[4])(int, int) = {plus, times, less, mixed};
KERNEL void call_by_table(const unsigned *which, const int *a, const int *b, int *out) {
  unsigned i = global_x();
  out[i] = operations[which[i] & 3](a[i], b[i]);
}

struct Shape {
  float size;
  virtual float area() const = 0;
  virtual int corners() const { return 0; }
};
struct Square : Shape {
  float area() const override { return size * size; }
  int corners() const override { return 4; }
};
struct Triangle : Shape {
  float height;
  float area() const override { return size * height * 0.5f; }
  int corners() const override { return 3; }
};
struct Disc : Shape {
  float area() const override { return 3.25f * size * size; }
};
extern "C" void __cxa_pure_virtual() { __builtin_trap(); }

KERNEL void virtual_calls(const float *sizes, float *areas, int *corners) {
  unsigned i = global_x();
  Square square;
  Triangle triangle;
  Disc disc;
  Shape *shape = i % 3 == 0   ? static_cast<Shape *>(&square)
                 : i % 3 == 1 ? static_cast<Shape *>(&triangle)
                              : &disc;
  triangle.height = 4;
  shape->size = sizes[i];
  areas[i] = shape->area();
  corners[i] = shape->corners();
}

struct Matrix {
  double at[3][3];
};
[[gnu::noinline]] static Matrix product(Matrix a, const Matrix &b, int scale, long shift, short low,
                                        char more) {
  Matrix result;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = static_cast<double>(shift) + low - more;
      for (int k = 0; k < 3; ++k)
        sum += a.at[i][k] * b.at[k][j] * scale;
      result.at[i][j] = sum;
    }
  return result;
}

KERNEL void matrix_power(const double *in, double *out) {
  unsigned i = global_x();
  Matrix m, power;
  for (int k = 0; k < 9; ++k)
    m.at[k / 3][k % 3] = in[i * 9 + static_cast<unsigned>(k)];
  power = m;
  for (unsigned k = 0; k < (i & 3); ++k)
    power = product(power, m, 2, -3, 5, 1);
  for (int k = 0; k < 9; ++k)
    out[i * 9 + static_cast<unsigned>(k)] = power.at[k / 3][k % 3];
}

// A stack that grows at run time.
[[gnu::noinline]] static unsigned digits(unsigned value, unsigned base) {
  unsigned count = 1;
  for (unsigned v = value; v >= base; v /= base)
    ++count;
  unsigned char *written = static_cast<unsigned char *>(__builtin_alloca(count));
  for (unsigned k = 0; k < count; ++k, value /= base)
    written[k] = static_cast<unsigned char>(value % base);
  unsigned reversed = 0;
  for (unsigned k = 0; k < count; ++k)
    reversed = reversed * base + written[k];
  return reversed;
}
KERNEL void reversed_digits(const unsigned *in, unsigned *out) {
  unsigned i = global_x();
  out[i] = digits(in[i], 2 + i % 14);
}
