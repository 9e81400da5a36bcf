// y = a x + y by a kernel that another tool compiled: external_code_object saxpy.hsaco
#include <cstdio>
#include <vector>

#include <nereid/nereid.h>

using namespace nereid;

Status run(const char *path) {
  const int n = 1000;
  const float a = 3;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[i] = 0.5F * i;
    y[i] = 100.0F - i;
  }
  const Device device = Device::best();
  NEREID_TRY(Buffer<float> x_there, device.upload(x));
  NEREID_TRY(Buffer<float> y_there, device.upload(y));

  NEREID_TRY(const Module module, Module::load(device, std::string(path)));
  NEREID_TRY(const ModuleKernel saxpy, module.kernel("saxpy"));
  const Grid grid{cdiv(n, 256)};
  NEREID_CHECK(saxpy(device.stream(), {.grid = grid, .block = {256}}, x_there, y_there, a, n));

  NEREID_TRY(const std::vector<float> result, y_there.to_host());
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += result[i] != a * x[i] + y[i];
  const Resources resources = saxpy.metadata().resources;
  std::printf("external_code_object: %s on %s, %u VGPRs, %d of %d wrong\n", saxpy.name().c_str(),
              device.name().c_str(), resources.vgpr, wrong, n);
  return wrong ? nereid_error("a wrong result") : Status();
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: external_code_object saxpy.hsaco\n");
    return 2;
  }
  const Status done = run(argv[1]);
  if (!done)
    std::fprintf(stderr, "%s\n", done.error().text().c_str());
  return done ? 0 : 1;
}
