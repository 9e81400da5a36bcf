// What the fragments of docs/aot.md use.
#include <array>

#include <nereid/nereid.h>

using namespace nereid;

struct AddConfig {
  int block = 1024;
  int waves = 4;
  NEREID_CONFIG(AddConfig, block, waves)
};
void add(const AddConfig &, Ptr<const f32>, Int) {}

struct Context {};
#define NAMES                                                                                                \
  const AddConfig config;                                                                                    \
  Kernel kernel("add", add);
