// Grids and blocks of three dimensions, arguments of many types.
#include "device.h"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void positions(global uint *out, uint width, uint height) {
  uint at = (global_z() * height + global_y()) * width + global_x();
  out[at] = item_x() | item_y() << 4 | item_z() << 8 | group_x() << 12 | group_y() << 16 | group_z() << 20 |
            (size_x() + size_y() + size_z()) << 24;
}

typedef struct {
  int count;
  char tag;
  short offsets[3];
  double scale;
  struct {
    float x, y;
  } point;
} options;

kernel void many_arguments(char a, uchar b, short c, ushort d, int e, uint f, long g, ulong h, float i,
                           double j, half k, char4 l, double2 m, options n, global double *out, int3 o) {
  if (global_x() != 0)
    return;
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = d;
  out[4] = e;
  out[5] = f;
  out[6] = (double)g;
  out[7] = (double)h;
  out[8] = i;
  out[9] = j;
  out[10] = (double)k;
  out[11] = l.x + 2 * l.y + 3 * l.z + 4 * l.w;
  out[12] = m.x - m.y;
  out[13] = n.count + n.tag + n.offsets[0] * n.offsets[1] + n.offsets[2];
  out[14] = n.scale * n.point.x + n.point.y;
  out[15] = o.x * 10000 + o.y * 100 + o.z;
}

// A five point stencil with the border kept.
kernel void stencil(global const float *in, global float *out, uint width, uint height) {
  uint x = global_x(), y = global_y();
  if (x >= width || y >= height)
    return;
  uint at = y * width + x;
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
    out[at] = in[at];
  else
    out[at] = 0.5f * in[at] + 0.125f * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
}
