// A report of a kernel of one's own: what it became, and what it does in a simulated launch. Writes a page.
#include <cmath>
#include <cstdio>
#include <fstream>

#include <nereid/inspect.h>
#include <nereid/nereid.h>

using namespace nereid;

struct SoftmaxConfig {
  int block = 1024; // a power of two that holds a row
  int waves = 4;
  NEREID_CONFIG(SoftmaxConfig, block, waves)
};

void softmax(const SoftmaxConfig &c, Ptr<const f32> x, Ptr<f32> y, Int columns) {
  Tile<i32> column = arange(0, c.block);
  Tile<i1> in_bounds = column < columns;
  Tile<i32> at = program_id(0) * columns + column;
  Tile<f32> value = load(x + at, in_bounds, -INFINITY);
  Tile<f32> weight = exp(value - max(value, axis(0)));
  store(y + at, weight / sum(weight, axis(0)), in_bounds);
}

Result<std::string> softmax_page(int rows, int columns) {
  Kernel kernel("softmax", softmax);
  // Nothing is known of the arguments: neither alignment nor divisibility.
  const std::vector<ArgumentFacts> facts(3);
  NEREID_TRY(const auto compiled, kernel.compile(SoftmaxConfig{}, facts, Device::simulator()));

  const auto bytes = static_cast<uint64_t>(rows * columns) * sizeof(float);
  inspect::RunRequest run;
  run.grid = {static_cast<uint32_t>(rows), 1, 1};
  run.arguments = {inspect::RunArgument::buffer(bytes), inspect::RunArgument::buffer(bytes),
                   inspect::RunArgument::number(columns)};
  run.operands = "zeros";
  NEREID_TRY(const inspect::Report report, inspect::report_of(*compiled, &run));
  std::printf("softmax: %u of 8 waves a SIMD, %zu instructions\n", report.occupancy.waves,
              report.code.size());
  return inspect::to_html(report);
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "softmax.html";
  const Result<std::string> page = softmax_page(37, 781);
  if (!page) {
    std::fprintf(stderr, "%s\n", page.error().text().c_str());
    return 1;
  }
  std::ofstream(path, std::ios::binary) << *page;
  std::printf("wrote %s, %zu bytes\n", path, page->size());
  return 0;
}
