/* The kernel library from C: C = A times B transposed, A quantised to MXFP4 on the way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nereid/c_api.h>

enum { m = 24, n = 32, k = 96 };

/* The values of e2m1 codes. */
static const float values[16] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -0.F, -0.5F, -1, -1.5F, -2, -3, -4, -6};

/* All numbers here are small: what they add up to is exact, and bf16 is the upper half of f32. */
static uint16_t to_bf16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits += 0x7fff + ((bits >> 16) & 1); /* to nearest, ties to even */
  return (uint16_t)(bits >> 16);
}

/* Every group of 32 has values up to 6, so that quantising A changes nothing. */
static int a_code(int row, int column) { return (row + 3 * column) % 16; }
static int b_code(int row, int column) { return (5 * row + column) % 16; }
static int b_scale(int row) { return row % 2 ? 126 : 127; } /* 1/2 or 1 */

static void check(nereid_status status, const char *what) {
  if (status == NEREID_OK)
    return;
  const nereid_error_info *error = nereid_last_error();
  fprintf(stderr, "%s: %s error: %s. %s\n", what, nereid_owner_name(status), error->message, error->remedy);
  exit(1);
}

static nereid_buffer *upload(const nereid_device *device, const void *data, size_t bytes) {
  nereid_buffer *buffer;
  check(nereid_buffer_create(device, bytes, &buffer), "nereid_buffer_create");
  check(nereid_buffer_write(buffer, 0, data, bytes), "nereid_buffer_write");
  return buffer;
}

static uint16_t a[m * k], c[m * n];
static uint8_t codes[n * k / 2], scales[n * k / 32];

static void make_operands(void) {
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < k; ++column)
      a[row * k + column] = to_bf16(values[a_code(row, column)]);
  for (int row = 0; row < n; ++row) {
    for (int byte = 0; byte < k / 2; ++byte)
      codes[row * (k / 2) + byte] = (uint8_t)(b_code(row, 2 * byte) | b_code(row, 2 * byte + 1) << 4);
    for (int group = 0; group < k / 32; ++group)
      scales[row * (k / 32) + group] = (uint8_t)b_scale(row);
  }
}

static int wrong_elements(void) {
  int wrong = 0;
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int i = 0; i < k; ++i)
        sum += values[a_code(row, i)] * values[b_code(column, i)];
      wrong += c[row * n + column] != to_bf16(b_scale(column) == 126 ? sum / 2 : sum);
    }
  return wrong;
}

int main(void) {
  if (nereid_c_api_version() != NEREID_C_API_VERSION) {
    fprintf(stderr, "libnereid.so is of another version than its header\n");
    return 1;
  }
  make_operands();
  const size_t b_bytes = nereid_mxfp4_shuffled_b_bytes(n, k);
  const size_t scale_bytes = nereid_mxfp4_shuffled_scale_bytes(n, k);
  uint8_t *b = malloc(b_bytes), *b_scales = malloc(scale_bytes);
  check(nereid_mxfp4_shuffle_b(n, k, codes, b), "nereid_mxfp4_shuffle_b");
  check(nereid_mxfp4_shuffle_scales(n, k, scales, b_scales), "nereid_mxfp4_shuffle_scales");

  nereid_device *device;
  check(nereid_device_open("auto", 0, &device), "nereid_device_open");
  nereid_buffer *buffers[] = {upload(device, a, sizeof a), upload(device, b, b_bytes),
                              upload(device, b_scales, scale_bytes), upload(device, c, sizeof c)};
  const nereid_mxfp4_linear_operands operands = {
      nereid_buffer_memory(buffers[0]), nereid_buffer_memory(buffers[1]), nereid_buffer_memory(buffers[2]),
      nereid_buffer_memory(buffers[3])};

  nereid_mxfp4_linear *linear;
  check(nereid_mxfp4_linear_create(device, &linear), "nereid_mxfp4_linear_create");
  check(nereid_mxfp4_linear_run(linear, NULL, m, n, k, NEREID_MXFP4_AUTO, &operands),
        "nereid_mxfp4_linear_run");
  check(nereid_buffer_read(buffers[3], 0, c, sizeof c), "nereid_buffer_read");

  const int wrong = wrong_elements();
  printf("mxfp4_linear: %d x %d x %d on %s, %d wrong\n", m, n, k, nereid_device_name(device), wrong);
  nereid_mxfp4_linear_destroy(linear);
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; ++i)
    nereid_buffer_destroy(buffers[i]);
  nereid_device_close(device);
  free(b);
  free(b_scales);
  return wrong != 0;
}
