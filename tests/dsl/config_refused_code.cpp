// Compiled by tests, not linked: with no macro it is right, with one of them the config must be refused with
// a message that says what is wrong with it.
#include <string>

#include "dsl/config.h"

using namespace nereid;

enum class Unnamed { A, B };
enum class Named { A, B };
constexpr auto nereid_config_names(Named) { return std::to_array<std::string_view>({"a", "b"}); }

struct Base {
  int block = 16;
};

struct Tile {
  int block_m = 16;
  NEREID_CONFIG(Tile, block_m)
};

#if defined(REFUSE_UNLISTED)
struct Config {
  int waves = 4;
  int block = 16;
  NEREID_CONFIG(Config, waves)
};
#elif defined(REFUSE_UNLISTED_IN_PADDING)
struct Config {
  int block = 16;
  bool shuffled = false;
  bool biased = false;
  NEREID_CONFIG(Config, block, shuffled)
};
#elif defined(REFUSE_UNLISTED_ALONE)
struct Config {
  float slope = 1;
  NEREID_CONFIG(Config)
};
#elif defined(REFUSE_UNLISTED_IN_A_TEMPLATE)
template <class C> struct Specialized {
  C config;
  bool even_m = false;
  NEREID_CONFIG(Specialized, config)
};
using Config = Specialized<Tile>;
#elif defined(REFUSE_INHERITED)
struct Config : Base {
  int waves = 4;
  NEREID_CONFIG(Config, waves)
};
#elif defined(REFUSE_TEXT_FIELD)
struct Config {
  std::string name;
  NEREID_CONFIG(Config, name)
};
#elif defined(REFUSE_DOUBLE_FIELD)
struct Config {
  double slope = 1;
  NEREID_CONFIG(Config, slope)
};
#elif defined(REFUSE_CHARACTER_FIELD)
struct Config {
  REFUSE_CHARACTER_FIELD order = 0;
  NEREID_CONFIG(Config, order)
};
#elif defined(REFUSE_ARRAY_FIELD)
struct Config {
  int blocks[2] = {16, 16};
  NEREID_CONFIG(Config, blocks)
};
#elif defined(REFUSE_CONSTANT_FIELD)
struct Config {
  const int waves = 4;
  NEREID_CONFIG(Config, waves)
};
#elif defined(REFUSE_ENUM_WITHOUT_NAMES)
struct Config {
  Unnamed kind = Unnamed::A;
  NEREID_CONFIG(Config, kind)
};
#elif defined(REFUSE_NAME_TWICE)
struct Config {
  Tile tile;
  int block_m = 16;
  NEREID_CONFIG(Config, tile, block_m)
};
#else
struct Config {
  int waves = 4;
  bool shuffled = false;
  float slope = 1;
  Named kind = Named::A;
  Tile tile;
  NEREID_CONFIG(Config, waves, shuffled, slope, kind, tile)
};
#endif

auto key_of(const Config &config) { return config_key(config); }
