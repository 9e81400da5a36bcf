// Private arrays that stay in scratch memory.
#include "device.h"

kernel void insertion_sort(global const int *in, global int *out, uint length) {
  int values[24];
  uint i = global_x();
  for (uint k = 0; k < length; ++k) {
    int x = in[i * length + k];
    int at = (int)k;
    for (; at > 0 && values[at - 1] > x; --at)
      values[at] = values[at - 1];
    values[at] = x;
  }
  for (uint k = 0; k < length; ++k)
    out[i * length + k] = values[k];
}

// The determinant of a 6x6 matrix by elimination with row exchanges.
kernel void determinants(global const double *in, global double *out) {
  double m[6][6];
  uint i = global_x();
  for (uint k = 0; k < 36; ++k)
    m[k / 6][k % 6] = in[36 * i + k];
  double product = 1;
  for (uint step = 0; step < 6; ++step) {
    uint best = step;
    for (uint row = step + 1; row < 6; ++row)
      if (__builtin_fabs(m[row][step]) > __builtin_fabs(m[best][step]))
        best = row;
    if (m[best][step] == 0) {
      product = 0;
      break;
    }
    if (best != step) {
      product = -product;
      for (uint column = 0; column < 6; ++column) {
        double kept = m[step][column];
        m[step][column] = m[best][column];
        m[best][column] = kept;
      }
    }
    product *= m[step][step];
    for (uint row = step + 1; row < 6; ++row) {
      double factor = m[row][step] / m[step][step];
      for (uint column = step; column < 6; ++column)
        m[row][column] -= factor * m[step][column];
    }
  }
  out[i] = product;
}

// A queue in private memory: the distance from a corner to each cell of an 8x8 maze (255: no way).
kernel void maze_distances(global const ulong *walls, global uchar *out) {
  uint i = global_x();
  uchar distance[64], queue[64];
  for (uint k = 0; k < 64; ++k)
    distance[k] = 255;
  ulong closed = walls[i] & ~1ul;
  uint head = 0, tail = 0;
  distance[0] = 0;
  queue[tail++] = 0;
  while (head < tail) {
    uint cell = queue[head++];
    for (uint way = 0; way < 4; ++way) {
      uint next = cell;
      if (way == 0 && (cell & 7) != 7)
        next = cell + 1;
      else if (way == 1 && (cell & 7) != 0)
        next = cell - 1;
      else if (way == 2 && cell < 56)
        next = cell + 8;
      else if (way == 3 && cell >= 8)
        next = cell - 8;
      if (next == cell || (closed >> next & 1) || distance[next] != 255)
        continue;
      distance[next] = (uchar)(distance[cell] + 1);
      queue[tail++] = (uchar)next;
    }
  }
  for (uint k = 0; k < 64; ++k)
    out[i * 64 + k] = distance[k];
}
