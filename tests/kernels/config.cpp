#include <gtest/gtest.h>

#include "kernels/catalog.h"
#include "kernels/choices.h"

using namespace nereid;
using namespace nereid::kernels;

namespace {
std::string parse_error(std::string_view text) {
  const Result<ConfigValues> result = ConfigValues::parse(text);
  return result ? std::string("no error") : result.error().message;
}
std::string gemm_error(const ConfigValues &config) {
  const Result<ConfigValues> result = complete_gemm(true, config, ProblemSize{16, 64, 512});
  return result ? std::string("no error") : result.error().message;
}
} // namespace

TEST(ConfigValues, ParsesAndPrintsInTheOrderOfTheKeys) {
  const ConfigValues values = ConfigValues::parse("reduce=atomic,block_m=32,path=sw").value();
  EXPECT_EQ(values.get("block_m"), 32);
  EXPECT_EQ(values.get("reduce"), static_cast<int>(Reduce::Atomic));
  EXPECT_EQ(values.get("block_n"), std::nullopt);
  EXPECT_EQ(values.text(), "block_m=32,reduce=atomic,path=sw");
  EXPECT_EQ(ConfigValues::parse(values.text()).value(), values);
  EXPECT_TRUE(ConfigValues::parse("").value().empty());
}

TEST(ConfigValues, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(parse_error("block_q=1"), "unknown config key 'block_q'");
  EXPECT_EQ(parse_error("block_m"), "config entry 'block_m' is not key=value");
  EXPECT_EQ(parse_error("block_m=1x"), "config value block_m=1x is not a number");
  EXPECT_EQ(parse_error("block_m=0"), "config value block_m=0 is outside 1 to 1024");
  EXPECT_EQ(parse_error("reduce=sum"),
            "config value reduce=sum is none of none, atomic, workspace, last_arrival");
  EXPECT_EQ(parse_error("block_m=16,block_m=32"), "config key 'block_m' is given twice");
}

TEST(ConfigValues, NameTheNearestOfAFewValues) {
  const auto refusal = [](std::string_view text) {
    const Result<ConfigValues> result = ConfigValues::parse(text);
    EXPECT_FALSE(result.ok() || result.error().owner != Owner::User) << text;
    return result ? std::string() : result.error().message + "; " + result.error().remedy;
  };
  EXPECT_EQ(refusal("mfma=24"), "config value mfma=24 is none of 16, 32; use mfma=16 or mfma=32");
  EXPECT_EQ(refusal("mfma=8"), "config value mfma=8 is none of 16, 32; use mfma=16");
  EXPECT_EQ(refusal("mfma=64"), "config value mfma=64 is none of 16, 32; use mfma=32");
  EXPECT_EQ(refusal("waves=3"), "config value waves=3 is none of 1, 2, 4, 8, 16; use waves=2 or waves=4");
  EXPECT_EQ(refusal("waves=0"), "config value waves=0 is none of 1, 2, 4, 8, 16; use waves=1");
  EXPECT_EQ(refusal("waves=99999999999"),
            "config value waves=99999999999 is none of 1, 2, 4, 8, 16; use waves=16");
  EXPECT_EQ(refusal("waves=-99999999999"),
            "config value waves=-99999999999 is none of 1, 2, 4, 8, 16; use waves=1");
  EXPECT_EQ(ConfigValues::parse("waves=8,mfma=32").value().get("waves"), 8);
}

TEST(Choices, FillInEveryKeyByTileAndShape) {
  const ConfigValues config = complete_gemm(true, {{"split_k", 4}}, ProblemSize{16, 2112, 7168}).value();
  for (std::string_view key : gemm_keys())
    EXPECT_TRUE(config.get(key).has_value()) << key;
  EXPECT_EQ(config.get("block_m"), 16);
  EXPECT_EQ(config.get("reduce"), static_cast<int>(Reduce::Workspace));
  EXPECT_EQ(config.get("const_k"), 0);
  EXPECT_EQ(complete_quant({}, ProblemSize{64, 0, 512}).value().get("path"),
            static_cast<int>(QuantPath::Hardware));
}

TEST(Choices, NameWhatIsNotSupported) {
  EXPECT_EQ(gemm_error({{"shuffled", 1}}), "mxfp4_gemm_fused has no config key 'shuffled'");
  EXPECT_EQ(gemm_error({{"split_k", 2}, {"reduce", 0}}), "mxfp4_gemm_fused: split_k=2 needs a way to reduce");
  EXPECT_EQ(gemm_error({{"mfma", 32}, {"block_m", 16}}), "mxfp4_gemm_fused: mfma=32 does not fit block_m=16");
  EXPECT_EQ(complete_gemm(true, {{"mfma", 32}, {"block_n", 16}}, ProblemSize{16, 16, 32}).error().remedy,
            "use block_n=32");
  EXPECT_EQ(complete_gemm(true, {{"mfma", 32}}, ProblemSize{16, 16, 32}).value().get("block_m"), 32);
  EXPECT_EQ(gemm_error({{"waves", 3}}), "mxfp4_gemm_fused: waves=3 is not a power of two");
  EXPECT_EQ(complete_gemm(true, {{"waves", 3}}, std::nullopt).error().remedy, "use waves=4");
  EXPECT_EQ(complete_gemm(false, {{"block_m", 24}}, std::nullopt).error().message,
            "mxfp4_gemm: block_m=24 is neither a power of two nor a multiple of 16");
  EXPECT_EQ(gemm_error({{"block_n", 24}}), "mxfp4_gemm_fused: block_n=24 is not a multiple of 16");
  EXPECT_EQ(complete_gemm(true, {{"const_k", 1}}, std::nullopt).error().message,
            "mxfp4_gemm_fused: const_k=1 needs a shape");
}

TEST(Choices, ProductsOfSeveralHaveTheKeysOfOneWithoutSplits) {
  const ConfigValues batched = complete_batched({}, ProblemSize{64, 96, 512}).value();
  EXPECT_EQ(batched.text(),
            "block_m=32,block_n=64,block_k=256,waves=4,stages=2,mfma=16,waves_per_eu=0,const_k=0,"
            "wave_split=auto");
  // 64 rows of 16 experts: blocks for 4 rows.
  const ConfigValues grouped = complete_grouped({{"experts", 16}}, ProblemSize{64, 96, 512}).value();
  EXPECT_EQ(grouped.text(),
            "block_m=16,block_n=32,block_k=256,waves=4,stages=2,mfma=16,waves_per_eu=0,experts=16,"
            "const_k=0,wave_split=auto");
  EXPECT_EQ(complete_grouped({}, std::nullopt).value().get("experts"), 8);
  EXPECT_EQ(complete_batched({{"split_k", 2}}, std::nullopt).error().message,
            "mxfp4_batched_gemm has no config key 'split_k'");
  EXPECT_EQ(complete_batched({{"experts", 2}}, std::nullopt).error().message,
            "mxfp4_batched_gemm has no config key 'experts'");
  EXPECT_EQ(complete_grouped({{"const_k", 1}}, std::nullopt).error().message,
            "mxfp4_grouped_gemm: const_k=1 needs a shape");
  EXPECT_EQ(parse_error("experts=6"),
            "config value experts=6 is none of 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024");
}

TEST(Choices, BlocksOfRowsFitAGrid) {
  const ProblemSize tall{1 << 20, 64, 512};
  for (const bool fused : {true, false})
    EXPECT_TRUE(complete_gemm(fused, {}, tall).ok()) << fused;
  EXPECT_TRUE(complete_quant({}, ProblemSize{tall.m, 0, tall.k}).ok());
  EXPECT_EQ(complete_reduce({}, tall).value().get("block_m"), 32);
  const Error refused = complete_gemm(true, {{"block_m", 16}}, tall).error();
  EXPECT_EQ(refused.owner, Owner::User);
  EXPECT_EQ(refused.message,
            "mxfp4_gemm_fused: M=1048576 in blocks of block_m=16 are 65536 programs, a grid has "
            "at most 65535 in y and z");
  EXPECT_EQ(refused.remedy, "use block_m=32");
  EXPECT_FALSE(complete_quant({{"block_m", 8}}, ProblemSize{tall.m, 0, tall.k}).ok());
  EXPECT_FALSE(complete_reduce({{"block_m", 4}}, tall).ok());
}

TEST(Choices, TakeEverySideThatIsAMultipleOf16) {
  for (const bool fused : {true, false})
    for (int rows : {4, 8, 16, 32, 48, 64, 80, 96, 128, 160, 192, 224, 256}) {
      EXPECT_TRUE(complete_gemm(fused, {{"block_m", rows}, {"block_n", 64}, {"waves", 4}}, {}).ok()) << rows;
      EXPECT_TRUE(complete_quant({{"block_m", rows}}, {}).ok()) << rows;
    }
  for (const bool fused : {true, false})
    for (int columns = 16; columns <= 272; columns += 16)
      EXPECT_TRUE(complete_gemm(fused, {{"block_m", 48}, {"block_n", columns}, {"waves", 4}}, {}).ok())
          << columns;
  for (int k : {32, 96, 128, 384, 512, 768})
    EXPECT_TRUE(complete_gemm(true, {{"block_m", 48}, {"block_k", k}}, {}).ok()) << k;
}

TEST(Choices, ErrorsNameTheNearestConfigThatFits) {
  for (const bool fused : {true, false})
    for (int rows : {4, 24, 48, 192, 256, 512})
      for (int columns : {16, 40, 144, 272, 1024})
        for (int waves : {1, 3, 4})
          for (int mfma : {16, 32}) {
            ConfigValues config = {{"block_m", rows}, {"block_n", columns}, {"waves", waves}, {"mfma", mfma}};
            const Result<ConfigValues> refused = complete_gemm(fused, config, std::nullopt);
            if (refused)
              continue;
            const std::string &remedy = refused.error().remedy;
            ASSERT_EQ(remedy.substr(0, 4), "use ") << config.text();
            const ConfigValues nearest = ConfigValues::parse(remedy.substr(4)).value();
            for (std::string_view key : gemm_keys())
              if (const std::optional<int> value = nearest.get(key))
                config.set(key, *value);
            EXPECT_TRUE(complete_gemm(fused, config, std::nullopt).ok()) << config.text() << ": " << remedy;
          }
  EXPECT_EQ(complete_gemm(true, {{"block_m", 256}, {"block_n", 272}, {"waves", 4}}, {}).error().remedy,
            "use block_n=256");
}

TEST(Choices, ContradictionsOfPathAndConfigAreUserErrors) {
  const ProblemSize size{16, 64, 1024};
  for (const auto &[path, config] : std::initializer_list<std::pair<GemmPath, ConfigValues>>{
           {GemmPath::Fused, {{"split_k", 2}}},
           {GemmPath::Fused, {{"reduce", static_cast<int>(Reduce::Atomic)}}},
           {GemmPath::Atomic, {{"reduce", static_cast<int>(Reduce::Workspace)}}},
           {GemmPath::Workspace, {{"reduce", static_cast<int>(Reduce::None)}}}}) {
    const Result<GemmPlan> plan = plan_gemm(path, config, size);
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(plan.error().owner, Owner::User);
    EXPECT_EQ(plan.error().message,
              "--config " + config.text() + " contradicts --path " + std::string(name_of(path)));
  }
  // Nobody named a path: the config contradicts itself.
  EXPECT_EQ(plan_gemm(GemmPath::Auto, {{"reduce", 0}, {"split_k", 4}}, size).error().message,
            "mxfp4_gemm_fused: split_k=4 needs a way to reduce");
}

TEST(TuningLists, HoldTheListedNumbersOfConfigsAndAllAreValid) {
  EXPECT_EQ(tuning_list(GemmPath::Fused).size(), 10U);
  EXPECT_EQ(tuning_list(GemmPath::Atomic).size(), 6U);
  EXPECT_EQ(tuning_list(GemmPath::Workspace).size(), 28U);
  for (GemmPath path : {GemmPath::Fused, GemmPath::Atomic, GemmPath::Workspace, GemmPath::Staged})
    for (const ConfigValues &config : tuning_list(path))
      EXPECT_TRUE(plan_gemm(path, config, {33, 144, 1312}).ok()) << config.text();
}

TEST(Catalog, KnowsItsKernelsByName) {
  EXPECT_EQ(kernel_named("mxfp4_gemm").value()->name, "mxfp4_gemm");
  for (const char *name : {"mxfp4_batched_gemm", "mxfp4_grouped_gemm"})
    EXPECT_EQ(kernel_named(name).value()->name, name);
  EXPECT_EQ(kernel_named("gemm").error().message, "there is no kernel 'gemm'");
  EXPECT_EQ(check_size(*kernel_named("mxfp4_quant").value(), {16, 32, 64}).error().message,
            "mxfp4_quant has no N: its size is M,0,K");
}

TEST(Choices, TheLibrarysTilesFitTheWidestRound) {
  for (const bool fused : {true, false})
    for (const int64_t m : {1, 20, 300})
      EXPECT_TRUE(complete_gemm(fused, {{"block_k", 4096}}, ProblemSize{m, 256, 4096}).ok()) << fused << m;
  EXPECT_TRUE(complete_quant({{"block_k", 4096}}, ProblemSize{300, 0, 4096}).ok());
}
