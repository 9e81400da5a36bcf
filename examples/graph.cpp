// A step of a model as a graph: two products and the copies around them are captured once and launched for
// each input. What changes between steps lies in the same buffers.
#include <cstdio>
#include <vector>

#include <nereid/nereid.h>

#include "kernels/host/problem.h"
#include "kernels/mxfp4_linear.h"

using namespace nereid;

int main() {
  const kernels::ProblemSize size{.m = 8, .n = 256, .k = 256};
  const kernels::host::Problem first = kernels::host::random_problem(size.m, size.n, size.k, /*seed=*/1);
  const kernels::host::Problem second = kernels::host::random_problem(size.m, size.n, size.k, /*seed=*/2);
  Device device = Device::best();
  Stream stream = device.new_stream().value();
  Buffer<uint16_t> input = device.allocate<uint16_t>(size.m * size.k).value();
  Buffer<uint16_t> middle = device.allocate<uint16_t>(size.m * size.n).value();
  Buffer<uint16_t> output = device.allocate<uint16_t>(size.m * size.n).value();
  Buffer<uint8_t> weights[] = {device.upload(first.b).value(), device.upload(second.b).value()};
  Buffer<uint8_t> scales[] = {device.upload(first.b_scales).value(), device.upload(second.b_scales).value()};
  std::vector<uint16_t> from(size.m * size.k), to(size.m * size.n);

  kernels::Mxfp4Linear linear(device);
  const kernels::LinearOperands products[] = {{input, weights[0], scales[0], middle},
                                              {middle, weights[1], scales[1], output}};
  for (const kernels::LinearOperands &product : products)
    linear.prepare(stream, product, size).value();
  Result<Graph> step = stream.capture([&]() -> Status {
    NEREID_CHECK(input.copy_from_host_async(stream, from));
    for (const kernels::LinearOperands &product : products)
      NEREID_CHECK(linear(stream, product, size));
    return output.copy_to_host_async(stream, to);
  });
  if (!step) {
    std::fprintf(stderr, "%s\n", step.error().text().c_str());
    return 1;
  }

  int wrong = 0;
  for (const kernels::host::Problem *problem : {&first, &second}) {
    from = problem->a;
    step->launch(stream).value();
    stream.synchronize().value();
    // The same products without the graph.
    Buffer<uint16_t> a = device.upload(problem->a).value(), b = device.allocate<uint16_t>(to.size()).value(),
                     c = device.allocate<uint16_t>(to.size()).value();
    linear(device.stream(), {a, weights[0], scales[0], b}, size).value();
    linear(device.stream(), {b, weights[1], scales[1], c}, size).value();
    wrong += to != c.to_host().value();
  }
  std::printf("graph: 2 steps on %s, %d wrong\n", device.name().c_str(), wrong);
  return wrong == 0 ? 0 : 1;
}
