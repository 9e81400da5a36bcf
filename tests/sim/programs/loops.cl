// Loops that lanes leave one by one, nested branches, switches.
#include "device.h"

kernel void collatz_steps(global const uint *start, global uint *steps, uint count) {
  uint i = global_x();
  if (i >= count)
    return;
  ulong value = start[i];
  uint n = 0;
  while (value != 1) {
    value = value & 1 ? 3 * value + 1 : value >> 1;
    ++n;
  }
  steps[i] = n;
}

// primes[i]: how many of the 16 numbers from 16 i on are prime.
kernel void prime_counts(global uint *primes) {
  uint i = global_x(), found = 0;
  for (uint number = 16 * i; number < 16 * i + 16; ++number) {
    if (number < 2 || (number % 2 == 0 && number != 2))
      continue;
    bool prime = true;
    for (uint divisor = 3; divisor * divisor <= number; divisor += 2)
      if (number % divisor == 0) {
        prime = false;
        break;
      }
    if (prime)
      ++found;
  }
  primes[i] = found;
}

kernel void nested_branches(global const int *in, global int *out) {
  uint i = global_x();
  int x = in[i], y;
  if (x < 0) {
    if (x < -100) {
      y = x & 1 ? -x : x / 3;
    } else {
      y = x * x;
      if (y > 2500)
        y -= 7;
      else if (y > 400)
        y += 11;
    }
  } else if (x > 50) {
    y = 0;
    do {
      y += x & 15;
      x >>= 1;
      if (x == 21)
        goto out;
    } while (x > 3);
    y ^= 0x55;
  } else {
    y = x == 0 ? 1000 : 1000 / x;
  }
out:
  out[i] = y;
}

// Runs the program whose first byte is code[start[i]] on a stack of two values; every lane may run another.
kernel void bytecode(global const uchar *code, global const uint *start, global int *out) {
  uint i = global_x();
  uint at = start[i];
  int top = (int)i, below = 1;
  for (uint step = 0; step < 100; ++step) {
    uchar operation = code[at++];
    switch (operation) {
    case 0:
      out[i] = top;
      return;
    case 1:
      top += below;
      break;
    case 2:
      top -= below;
      break;
    case 3:
      top *= 3;
      break;
    case 4: {
      int kept = top;
      top = below;
      below = kept;
      break;
    }
    case 5:
      below = (char)code[at++];
      break;
    case 6:
      if (top & 1)
        at += 2;
      break;
    case 7:
      top ^= below << 3;
      // falls through
    case 8:
      top >>= 1;
      break;
    default:
      at = (uint)(operation - 9);
    }
  }
  out[i] = -1;
}

kernel void mandelbrot(global uint *steps, float left, float top, float pitch, uint width, uint limit) {
  uint column = global_x(), row = global_y();
  float a = left + pitch * (float)column, b = top + pitch * (float)row, x = 0, y = 0;
  uint n = 0;
  for (; n < limit && x * x + y * y <= 4.0f; ++n) {
    float next = x * x - y * y + a;
    y = 2 * x * y + b;
    x = next;
  }
  steps[row * width + column] = n;
}

kernel void binary_gcd(global const ulong *a, global const ulong *b, global ulong *out) {
  uint i = global_x();
  ulong u = a[i], v = b[i];
  int shift = 0;
  while (((u | v) & 1) == 0) {
    u >>= 1;
    v >>= 1;
    ++shift;
  }
  while ((u & 1) == 0)
    u >>= 1;
  do {
    v >>= __builtin_ctzll(v);
    if (u > v) {
      ulong kept = u;
      u = v;
      v = kept;
    }
    v -= u;
  } while (v);
  out[i] = u << shift;
}
