// A host program as somebody writes it for a GPU: HIP's module API, nothing of Nereid. Its code object is the
// first argument; a second one, "timed", says that events carry simulated time, so that equal work takes
// equal time. The declarations are those of hip_runtime_api.h that it needs.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
int hipGetDeviceCount(int *);
int hipMalloc(void **, size_t);
int hipFree(void *);
int hipMemcpyAsync(void *, const void *, size_t, int, void *);
int hipStreamCreate(void **);
int hipStreamDestroy(void *);
int hipStreamSynchronize(void *);
int hipEventCreate(void **);
int hipEventDestroy(void *);
int hipEventRecord(void *, void *);
int hipEventElapsedTime(float *, void *, void *);
int hipModuleLoad(void **, const char *);
int hipModuleUnload(void *);
int hipModuleGetFunction(void **, void *, const char *);
int hipModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          void *, void **, void **);
const char *hipGetErrorString(int);
}

namespace {

void check(int error, const char *call) {
  if (error) {
    std::printf("%s: %s\n", call, hipGetErrorString(error));
    std::exit(1);
  }
}
#define CHECK(call) check(call, #call)

} // namespace

int main(int count, char **arguments) {
  constexpr int n = 1000, host_to_device = 1, device_to_host = 2;
  const size_t bytes = n * sizeof(float);
  int devices = 0;
  CHECK(hipGetDeviceCount(&devices));
  std::vector<float> x(n), y(n), z(n);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 0.5f;
  }
  void *dx, *dy, *dz, *stream, *module, *add, *points[3];
  CHECK(hipMalloc(&dx, bytes));
  CHECK(hipMalloc(&dy, bytes));
  CHECK(hipMalloc(&dz, bytes));
  CHECK(hipStreamCreate(&stream));
  CHECK(hipModuleLoad(&module, count > 1 ? arguments[1] : ""));
  CHECK(hipModuleGetFunction(&add, module, "add"));
  CHECK(hipMemcpyAsync(dx, x.data(), bytes, host_to_device, stream));
  CHECK(hipMemcpyAsync(dy, y.data(), bytes, host_to_device, stream));
  int length = n;
  void *parameters[] = {&dx, &dy, &dz, &length};
  for (int i = 0; i < 3; ++i) {
    CHECK(hipEventCreate(&points[i]));
    CHECK(hipEventRecord(points[i], stream));
    CHECK(hipModuleLaunchKernel(add, (n + 255) / 256, 1, 1, 256, 1, 1, 0, stream, parameters, nullptr));
  }
  CHECK(hipMemcpyAsync(z.data(), dz, bytes, device_to_host, stream));
  CHECK(hipStreamSynchronize(stream));
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += z[i] != x[i] + y[i];
  float first = 0, second = 0;
  CHECK(hipEventElapsedTime(&first, points[0], points[1]));
  CHECK(hipEventElapsedTime(&second, points[1], points[2]));
  if (count > 2 && std::strcmp(arguments[2], "timed") == 0 && !(first > 0.001f && first == second)) {
    std::printf("two equal launches took %f ms and %f ms\n", first, second);
    return 1;
  }
  for (void *point : points)
    CHECK(hipEventDestroy(point));
  CHECK(hipModuleUnload(module));
  CHECK(hipStreamDestroy(stream));
  for (void *memory : {dx, dy, dz})
    CHECK(hipFree(memory));
  std::printf("%d sums on one of %d devices, %d wrong\n", n, devices, wrong);
  return wrong != 0;
}
