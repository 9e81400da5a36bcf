// Configs: their fields by NEREID_CONFIG, text, JSON and keys.
#include <cmath>
#include <cstring>

#include "tests/dsl/trace_support.h"

namespace nereid::test {
namespace {

enum class Reduce { None, Atomic, Workspace };
constexpr auto nereid_config_names(Reduce) {
  return std::to_array<std::string_view>({"none", "atomic", "workspace"});
}

struct Gemm {
  int block_m = 16;
  int split_k = 1;
  bool shuffled = false;
  Reduce reduce = Reduce::None;
  NEREID_CONFIG(Gemm, block_m, split_k, shuffled, reduce)
};

/// A field of every kind, with padding after the bool.
struct Layer {
  bool biased = false;
  float slope = 0.1F;
  Gemm gemm;
  int64_t seed = 0;
  WaveSplit wave_split = WaveSplit::Auto;
  NEREID_CONFIG(Layer, biased, slope, gemm, seed, wave_split)
};

template <class Config> struct Specialized {
  Config config;
  bool even_m = false;
  NEREID_CONFIG(Specialized, config, even_m)
};

TEST(TraceConfig, TextIsReadBack) {
  Gemm c{.block_m = 32, .reduce = Reduce::Atomic};
  EXPECT_EQ(config_text(c), "block_m=32,split_k=1,shuffled=0,reduce=atomic");
  Gemm d;
  ASSERT_TRUE(config_parse(d, config_text(c)).ok());
  EXPECT_EQ(config_key(d), config_key(c));
  EXPECT_EQ(config_key(d), (std::array<int64_t, 4>{32, 1, 0, 1}));
}

TEST(TraceConfig, SettingChangesOneField) {
  Gemm c;
  ASSERT_TRUE(config_parse(c, "split_k=8,reduce=workspace").ok());
  EXPECT_EQ(c.split_k, 8);
  EXPECT_EQ(c.reduce, Reduce::Workspace);
  EXPECT_EQ(c.block_m, 16);
  ASSERT_TRUE(config_set(c, "shuffled", "1").ok());
  EXPECT_TRUE(c.shuffled);
  ASSERT_TRUE(config_parse(c, "").ok());
  EXPECT_EQ(config_get(c, "split_k"), 8);
  EXPECT_EQ(config_get(c, "block_q"), std::nullopt);
}

TEST(TraceConfig, FieldsOfANestedConfigStandInItsPlace) {
  Layer c{.gemm = {.split_k = 4}, .wave_split = WaveSplit::Mn};
  EXPECT_EQ(config_text(c),
            "biased=0,slope=0.1,block_m=16,split_k=4,shuffled=0,reduce=none,seed=0,wave_split=mn");
  Layer d;
  ASSERT_TRUE(config_parse(d, config_text(c)).ok());
  EXPECT_EQ(config_key(d), config_key(c));
  ASSERT_TRUE(config_parse(d, "block_m=48,biased=1,seed=-99999999999").ok());
  EXPECT_EQ(d.gemm.block_m, 48);
  EXPECT_TRUE(d.biased);
  EXPECT_EQ(d.seed, -99999999999);
  EXPECT_EQ(config_text(Specialized<Gemm>{}), "block_m=16,split_k=1,shuffled=0,reduce=none,even_m=0");
}

TEST(TraceConfig, FloatsAreReadBackToTheBit) {
  for (float value : {0.1F, -0.0F, 1e-45F, 3.0e38F, INFINITY, -INFINITY, std::nextafter(1.0F, 2.0F)}) {
    const Layer c{.slope = value};
    Layer d;
    ASSERT_TRUE(config_parse(d, config_text(c)).ok()) << config_text(c);
    EXPECT_EQ(config_key(d), config_key(c)) << config_text(c);
  }
  EXPECT_NE(config_key(Layer{.slope = 0.0F}), config_key(Layer{.slope = -0.0F}));
  EXPECT_EQ(config_key(Layer{.slope = NAN}), config_key(Layer{.slope = NAN}));
}

template <class T> struct Seed {
  T seed = 0;
  NEREID_CONFIG(Seed, seed)
};

template <class T> class IntegerField : public ::testing::Test {};
using IntegerFields = ::testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                                       uint64_t, long long, unsigned long long>;
TYPED_TEST_SUITE(IntegerField, IntegerFields);

TYPED_TEST(IntegerField, IsReadBackAtItsExtremes) {
  using Limits = std::numeric_limits<TypeParam>;
  for (TypeParam value : {Limits::min(), TypeParam(0), TypeParam(Limits::max() / 2 + 1), Limits::max()}) {
    const Seed<TypeParam> config{.seed = value};
    EXPECT_EQ(config_text(config), "seed=" + std::to_string(value));
    EXPECT_EQ(config_json(config), "{\"seed\": " + std::to_string(value) + "}");
    Seed<TypeParam> read;
    const Status status = config_parse(read, config_text(config));
    ASSERT_TRUE(status) << status.error().text();
    EXPECT_EQ(read.seed, value);
  }
  const std::string range =
      " is outside " + std::to_string(Limits::min()) + " to " + std::to_string(Limits::max());
  for (const char *beyond : {"99999999999999999999", "-99999999999999999999"}) {
    Seed<TypeParam> config;
    const Status refused = config_parse(config, std::string("seed=") + beyond);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, std::string("config value seed=") + beyond + range);
  }
}

TEST(TraceConfig, AnUnsignedFieldIsNotNegative) {
  Seed<uint64_t> config;
  EXPECT_EQ(config_parse(config, "seed=-1").error().message,
            "config value seed=-1 is outside 0 to 18446744073709551615");
  static constexpr ConfigLimits limits[] = {{"seed", 1, 8}};
  EXPECT_EQ(parse_partial<Seed<uint64_t>>("seed=9223372036854775808", limits).error().message,
            "config value seed=9223372036854775808 is outside 1 to 8");
}

TEST(TraceConfig, TheKeyDoesNotReadPadding) {
  Layer zeros, ones;
  std::memset(static_cast<void *>(&zeros), 0x00, sizeof zeros);
  std::memset(static_cast<void *>(&ones), 0xff, sizeof ones);
  for (Layer *config : {&zeros, &ones}) {
    config->biased = true;
    config->slope = 0.5F;
    config->gemm.block_m = 16;
    config->gemm.split_k = 2;
    config->gemm.shuffled = false;
    config->gemm.reduce = Reduce::None;
    config->seed = 3;
    config->wave_split = WaveSplit::N;
  }
  ASSERT_NE(std::memcmp(&zeros, &ones, sizeof zeros), 0) << "there is no padding";
  EXPECT_EQ(config_key(zeros), config_key(ones));
}

TEST(TraceConfig, Json) {
  EXPECT_EQ(config_json(Gemm{}), R"({"block_m": 16, "split_k": 1, "shuffled": 0, "reduce": "none"})");
  EXPECT_EQ(config_json(Partial<Layer>{.slope = 0.25F, .gemm = {.shuffled = true}}),
            R"({"slope": 0.25, "shuffled": 1})");
  EXPECT_EQ(config_json(Partial<Layer>{.slope = INFINITY}), R"({"slope": "inf"})");
  EXPECT_EQ(config_json(NoConfig{}), "{}");
}

TEST(PartialConfig, HoldsTheFieldsThatAreGiven) {
  const Partial<Layer> given = parse_partial<Layer>("reduce=atomic,slope=2").value();
  EXPECT_EQ(given, (Partial<Layer>{.slope = 2.0F, .gemm = {.reduce = Reduce::Atomic}}));
  EXPECT_EQ(given.gemm.split_k, std::nullopt);
  EXPECT_EQ(config_text(given), "slope=2,reduce=atomic");
  EXPECT_EQ(parse_partial<Layer>("").value(), Partial<Layer>{});
  const Layer merged = config_merge(Layer{.biased = true, .gemm = {.split_k = 3}}, given);
  EXPECT_EQ(config_text(merged),
            "biased=1,slope=2,block_m=16,split_k=3,shuffled=0,reduce=atomic,seed=0,wave_split=auto");
}

std::string refusal(std::string_view given, std::span<const ConfigLimits> limits = {}) {
  const Result<Partial<Layer>> parsed = parse_partial<Layer>(given, limits);
  EXPECT_FALSE(parsed.ok()) << given;
  EXPECT_EQ(parsed ? Owner::User : parsed.error().owner, Owner::User);
  return parsed ? "" : parsed.error().message + "; " + parsed.error().remedy;
}

TEST(PartialConfig, ErrorsSayWhatIsKnown) {
  EXPECT_EQ(refusal("block_q=3"),
            "unknown config key 'block_q'; known keys: biased, slope, block_m, split_k, "
            "shuffled, reduce, seed, wave_split");
  EXPECT_EQ(refusal("gemm=3").substr(0, 25), "unknown config key 'gemm'");
  EXPECT_EQ(refusal("reduce=tree"), "config value reduce=tree is none of none, atomic, workspace; ");
  EXPECT_EQ(refusal("reduce=1"), "config value reduce=1 is none of none, atomic, workspace; ");
  EXPECT_EQ(refusal("shuffled=2"), "config value shuffled=2 is none of 0, 1; ");
  EXPECT_EQ(refusal("split_k=8x"), "config value split_k=8x is not a number; ");
  EXPECT_EQ(refusal("split_k="), "config value split_k= is not a number; ");
  EXPECT_EQ(refusal("split_k=99999999999"),
            "config value split_k=99999999999 is outside -2147483648 to 2147483647; ");
  EXPECT_EQ(refusal("seed=99999999999999999999").substr(0, 46),
            "config value seed=99999999999999999999 is outs");
  EXPECT_EQ(refusal("slope=steep"), "config value slope=steep is not a number; ");
  EXPECT_EQ(refusal("slope=1e99"), "config value slope=1e99 is beyond the range of a float; ");
  EXPECT_EQ(refusal("split_k"), "config entry 'split_k' is not key=value; write key=value,key=value");
  EXPECT_EQ(refusal("split_k=8,"), "config entry '' is not key=value; write key=value,key=value");
  EXPECT_EQ(refusal("split_k=8,slope=1,split_k=8"), "config key 'split_k' is given twice; ");
}

TEST(PartialConfig, LimitsNarrowIntegers) {
  static constexpr int rows[] = {16, 32};
  static constexpr ConfigLimits limits[] = {{"split_k", 1, 8}, {"block_m", 16, 32, rows}};
  EXPECT_EQ(refusal("split_k=9", limits), "config value split_k=9 is outside 1 to 8; ");
  EXPECT_EQ(refusal("block_m=24", limits),
            "config value block_m=24 is none of 16, 32; use block_m=16 or block_m=32");
  EXPECT_EQ(refusal("block_m=99999999999999999999", limits),
            "config value block_m=99999999999999999999 is none of 16, 32; use block_m=32");
  EXPECT_EQ(refusal("block_m=-99999999999999999999", limits),
            "config value block_m=-99999999999999999999 is none of 16, 32; use block_m=16");
  EXPECT_EQ(parse_partial<Layer>("split_k=8,block_m=32", limits).value().gemm.block_m, 32);
}

TEST(TraceConfig, AnErrorChangesNothing) {
  Gemm c;
  EXPECT_FALSE(config_parse(c, "split_k=8,block_q=1").ok());
  EXPECT_EQ(c.split_k, 1);
}

TEST(TraceConfig, AReservedKeyIsNoFloat) {
  struct FloatWaves {
    float waves = 4;
    NEREID_CONFIG(FloatWaves, waves)
  };
  const auto nothing = [](const FloatWaves &, Int) {};
  const Result<ir::Function> function = trace("test", nothing, FloatWaves{});
  ASSERT_FALSE(function.ok());
  EXPECT_EQ(function.error().owner, Owner::User);
  EXPECT_EQ(function.error().message, "kernel 'test': config key waves is a float");
  EXPECT_EQ(function.error().remedy, "It must be 1, 2, 4, 8 or 16");
}

} // namespace
} // namespace nereid::test
