// What the fragments of docs/language.md use.
#include <array>
#include <cmath>
#include <string_view>

#include <nereid/nereid.h>

using namespace nereid;

struct TileConfig {
  int block_m = 16;
  int waves = 4;
  NEREID_CONFIG(TileConfig, block_m, waves)
};

struct Context {
  Ptr<const f32> in;
  Ptr<const u8> codes, scales;
  Int n;
};
#define NAMES auto &[in, codes, scales, n] = context;
