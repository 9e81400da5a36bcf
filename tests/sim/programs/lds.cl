// Work-items that share LDS.
#include "device.h"

kernel void block_sum(global const int *in, global int *out, uint count) {
  local int part[256];
  uint t = item_x(), sum = 0;
  for (uint i = global_x(); i < count; i += 4 * 256)
    sum += in[i];
  part[t] = sum;
  sync();
  for (uint step = 128; step > 0; step >>= 1) {
    if (t < step)
      part[t] += part[t + step];
    sync();
  }
  if (t == 0)
    out[group_x()] = part[0];
}

kernel void transpose(global const float *in, global float *out, uint rows, uint columns) {
  local float tile[32][33];
  uint x = group_x() * 32 + item_x(), y = group_y() * 32 + item_y();
  for (uint j = 0; j < 32; j += 8)
    if (x < columns && y + j < rows)
      tile[item_y() + j][item_x()] = in[(y + j) * columns + x];
  sync();
  x = group_y() * 32 + item_x();
  y = group_x() * 32 + item_y();
  for (uint j = 0; j < 32; j += 8)
    if (x < rows && y + j < columns)
      out[(y + j) * rows + x] = tile[item_x()][item_y() + j];
}

__attribute__((amdgpu_flat_work_group_size(512, 512))) kernel void inclusive_scan(global const uint *in,
                                                                                  global uint *out) {
  local uint values[2][512];
  uint t = item_x(), i = group_x() * 512 + t;
  uint from = 0;
  values[0][t] = in[i];
  sync();
  for (uint distance = 1; distance < 512; distance <<= 1) {
    uint sum = values[from][t];
    if (t >= distance)
      sum += values[from][t - distance];
    values[1 - from][t] = sum;
    from = 1 - from;
    sync();
  }
  out[i] = values[from][t];
}

kernel void bitonic_sort(global int *data) {
  local int values[512];
  uint t = item_x();
  for (uint i = t; i < 512; i += 256)
    values[i] = data[group_x() * 512 + i];
  for (uint size = 2; size <= 512; size <<= 1)
    for (uint stride = size / 2; stride > 0; stride >>= 1) {
      sync();
      uint low = 2 * t - (t & (stride - 1));
      bool rising = (low & size) == 0;
      int a = values[low], b = values[low + stride];
      if ((a > b) == rising) {
        values[low] = b;
        values[low + stride] = a;
      }
    }
  sync();
  for (uint i = t; i < 512; i += 256)
    data[group_x() * 512 + i] = values[i];
}

kernel void matrix_product(global const float *a, global const float *b, global float *c, uint n) {
  local float tile_a[16][16], tile_b[16][17];
  uint row = global_y(), column = global_x();
  float sum = 0;
  for (uint k = 0; k < n; k += 16) {
    tile_a[item_y()][item_x()] = a[row * n + k + item_x()];
    tile_b[item_y()][item_x()] = b[(k + item_y()) * n + column];
    sync();
    for (uint j = 0; j < 16; ++j)
      sum += tile_a[item_y()][j] * tile_b[j][item_x()];
    sync();
  }
  c[row * n + column] = sum;
}

// The host says where in dynamic LDS the array begins.
kernel void reverse_dynamic(global const ushort *in, global ushort *out, local ushort *values, uint count) {
  for (uint i = item_x(); i < count; i += size_x())
    values[i] = in[i];
  sync();
  for (uint i = item_x(); i < count; i += size_x())
    out[i] = values[count - 1 - i];
}

typedef struct {
  uchar tag;
  double weight;
  ushort3 color;
} record;

kernel void records_by_tag(global const record *in, global double *weights, global uint *colors) {
  local record shared_records[64];
  uint t = item_x();
  shared_records[in[t].tag] = in[t];
  sync();
  record mine = shared_records[t];
  weights[t] = mine.weight * 2;
  colors[t] = mine.color.x + 256u * mine.color.y + 65536u * mine.color.z;
}
