// Writes a kernel of one's own as files for C programs: export DIRECTORY
#include <cstdio>

#include <nereid/nereid.h>

using namespace nereid;

struct AddConfig {
  int block = 1024;
  int waves = 4;
  NEREID_CONFIG(AddConfig, block, waves)
};

void add(const AddConfig &c, Ptr<const f32> x, Ptr<const f32> y, Ptr<f32> z, Int n) {
  Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  Tile<i1> in_range = i < n;
  store(z + i, load(x + i, in_range) + load(y + i, in_range), in_range);
}

Result<std::vector<std::string>> write(const char *directory) {
  const AddConfig config;
  const Kernel kernel("vector_add", add);
  // Code for addresses that are multiples of 16; the launcher refuses others.
  const std::vector<ArgumentFacts> facts = {{.divisibility = 16, .name = "x"},
                                            {.divisibility = 16, .name = "y"},
                                            {.divisibility = 16, .name = "z"},
                                            {.name = "n"}};
  NEREID_TRY(const auto compiled, kernel.compile(config, facts, Device::simulator()));
  const aot::Export exported{.kernel = compiled,
                             .summary = "z = x + y of n floats",
                             .conditions = {{"n", aot::Condition::Kind::AtLeast, 1}},
                             .programs = {aot::Programs::blocks("n", config.block),
                                          aot::Programs::constant(1), aot::Programs::constant(1)}};
  return aot::write(directory, std::span(&exported, 1));
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: export DIRECTORY\n");
    return 2;
  }
  const Result<std::vector<std::string>> written = write(argv[1]);
  if (!written)
    std::fprintf(stderr, "%s\n", written.error().text().c_str());
  return written ? 0 : 1;
}
