// Configs of the library: keys, defaults, what is refused and what is proposed in its place, paths.
#include <gtest/gtest.h>

#include "kernels/gemm_plan.h"
#include "kernels/mxfp4_grouped_gemm.h"
#include "kernels/mxfp4_quant.h"
#include "kernels/registry.h"
#include "kernels/splitk_reduce.h"

using namespace nereid;
using namespace nereid::kernels;

namespace {

std::string gemm_error(const Partial<GemmConfig> &config) {
  const Result<GemmConfig> result = gemm_fused_kernel.complete(config, ProblemSize{16, 64, 512});
  return result ? std::string("no error") : result.error().message;
}

Result<GemmConfig> complete_gemm(bool fused, const Partial<GemmConfig> &config, const MaybeSize &size) {
  return fused ? gemm_fused_kernel.complete(config, size) : gemm_kernel.complete(config, size);
}

/// What is said of a --config of a kernel.
std::string refusal(std::string_view kernel, std::string_view config) {
  const Result<ConfiguredKernel> configured = kernel_named(kernel).value()->configure(config, std::nullopt);
  EXPECT_FALSE(configured.ok()) << config;
  EXPECT_EQ(configured ? Owner::Nereid : configured.error().owner, Owner::User);
  return configured ? "" : configured.error().message + "; " + configured.error().remedy;
}

} // namespace

TEST(ConfigKeys, AreThoseOfTheContract) {
  const auto keys = [](std::string_view kernel) {
    std::string names;
    for (const ConfigValue &key : kernel_named(kernel).value()->keys)
      names += std::string(key.name) + " ";
    return names;
  };
  const std::string tile = "block_m block_n block_k waves stages mfma waves_per_eu const_k wave_split ";
  EXPECT_EQ(keys("mxfp4_gemm_fused"), tile + "split_k reduce ");
  EXPECT_EQ(keys("mxfp4_gemm"), tile + "split_k reduce ");
  EXPECT_EQ(keys("mxfp4_batched_gemm"), tile);
  EXPECT_EQ(keys("mxfp4_grouped_gemm"), tile + "experts ");
  EXPECT_EQ(keys("splitk_reduce"), "block_m block_n split_k waves stages mfma waves_per_eu ");
  EXPECT_EQ(keys("mxfp4_rmsnorm_quant"),
            "block_m width waves waves_per_eu source split_k residual rule shuffled ");
  EXPECT_EQ(keys("mxfp4_act_quant"),
            "block_m block_k waves waves_per_eu activation gates source split_k rule shuffled ");
  EXPECT_EQ(keys("moe_route"), "block_m experts top_k waves waves_per_eu scoring groups keep_groups ");
  EXPECT_EQ(keys("moe_up"), tile + "activation gates bias rule ");
  EXPECT_EQ(keys("moe_down"), tile + "bias scatter ");
  EXPECT_EQ(keys("rope_cache"), "heads kv_heads head page waves waves_per_eu style layout ");
  EXPECT_EQ(keys("attention"),
            "head rotary causal ragged element block_m block_n waves stages mfma waves_per_eu ");
  EXPECT_EQ(keys("mxfp4_quant"), "block_m block_k waves stages mfma waves_per_eu shuffled path ");
}

TEST(ConfigKeys, AreReadAsTheyArePrinted) {
  const std::string_view config = "reduce=last_arrival,block_m=32,const_k=1,wave_split=mn,split_k=2";
  const Partial<GemmConfig> given = parse_keys<GemmConfig>("mxfp4_gemm", config).value();
  EXPECT_EQ(given, (Partial<GemmConfig>{
                       .tile = {.block_m = 32, .const_k = true, .wave_split = WaveSplit::Mn},
                       .split_k = 2,
                       .reduce = Reduce::LastArrival,
                   }));
  EXPECT_EQ(config_text(given), "block_m=32,const_k=1,wave_split=mn,split_k=2,reduce=last_arrival");
  EXPECT_EQ(parse_keys<GemmConfig>("mxfp4_gemm", config_text(given)).value(), given);
  EXPECT_EQ(config_json(given), R"({"block_m": 32, "const_k": 1, "wave_split": "mn", "split_k": 2, )"
                                R"("reduce": "last_arrival"})");
  EXPECT_EQ(config_json(parse_keys<QuantConfig>("mxfp4_quant", "path=sw,shuffled=1").value()),
            R"({"shuffled": 1, "path": "sw"})");
}

TEST(ConfigKeys, RefuseWhatTheyDoNotKnow) {
  EXPECT_EQ(refusal("splitk_reduce", "block_q=1"),
            "unknown config key 'block_q'; known keys: block_m, block_n, split_k, waves, stages, mfma, "
            "waves_per_eu");
  EXPECT_EQ(refusal("splitk_reduce", "block_m=4,shuffled=1"),
            "splitk_reduce has no config key 'shuffled'; its keys: block_m, block_n, split_k, waves, stages, "
            "mfma, waves_per_eu");
  EXPECT_EQ(refusal("mxfp4_batched_gemm", "split_k=2").substr(0, 50),
            "mxfp4_batched_gemm has no config key 'split_k'; it");
  EXPECT_EQ(refusal("mxfp4_batched_gemm", "experts=2").substr(0, 46),
            "mxfp4_batched_gemm has no config key 'experts'");
  EXPECT_EQ(refusal("mxfp4_gemm", "block_m=0"), "config value block_m=0 is outside 1 to 1024; ");
  EXPECT_EQ(refusal("mxfp4_gemm", "block_k=16"), "config value block_k=16 is outside 32 to 4096; ");
  EXPECT_EQ(refusal("mxfp4_gemm", "const_k=2"), "config value const_k=2 is none of 0, 1; ");
  EXPECT_EQ(refusal("mxfp4_gemm", "reduce=sum"),
            "config value reduce=sum is none of none, atomic, workspace, last_arrival; ");
  for (std::string_view derived : {"even_m=1", "constant_k=512", "scaling=alpha"})
    EXPECT_EQ(refusal("mxfp4_gemm", derived).substr(0, 18), "unknown config key") << "set by the library";
}

TEST(ConfigKeys, NameTheNearestOfAFewValues) {
  EXPECT_EQ(refusal("mxfp4_gemm", "mfma=24"),
            "config value mfma=24 is none of 16, 32; use mfma=16 or mfma=32");
  EXPECT_EQ(refusal("mxfp4_gemm", "mfma=8"), "config value mfma=8 is none of 16, 32; use mfma=16");
  EXPECT_EQ(refusal("mxfp4_gemm", "waves=3"),
            "config value waves=3 is none of 1, 2, 4, 8, 16; use waves=2 or waves=4");
  EXPECT_EQ(refusal("mxfp4_gemm", "waves=99999999999"),
            "config value waves=99999999999 is none of 1, 2, 4, 8, 16; use waves=16");
  EXPECT_EQ(refusal("mxfp4_grouped_gemm", "experts=6"),
            "config value experts=6 is none of 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024; use experts=4 or "
            "experts=8");
}

TEST(Defaults, FillInEveryKeyByTileAndShape) {
  const GemmConfig config = gemm_fused_kernel.complete({.split_k = 4}, ProblemSize{16, 2112, 7168}).value();
  EXPECT_EQ(config_text(config),
            "block_m=16,block_n=64,block_k=256,waves=4,stages=2,mfma=16,waves_per_eu=0,const_k=0,"
            "wave_split=auto,split_k=4,reduce=workspace");
  EXPECT_EQ(config_text(gemm_kernel.complete({}, ProblemSize{4096, 4096, 4096}).value()),
            "block_m=256,block_n=256,block_k=256,waves=8,stages=2,mfma=16,waves_per_eu=0,const_k=0,"
            "wave_split=auto,split_k=1,reduce=none");
  EXPECT_EQ(config_text(quant_kernel.complete({.shuffled = true}, ProblemSize{64, 0, 512}).value()),
            "block_m=32,block_k=256,waves=1,stages=1,mfma=16,waves_per_eu=0,shuffled=1,path=hw");
}

TEST(Defaults, ProductsOfSeveralHaveTheTileOfOneWithoutSplits) {
  EXPECT_EQ(config_text(batched_kernel.complete({}, ProblemSize{64, 96, 512}).value()),
            "block_m=32,block_n=64,block_k=256,waves=4,stages=2,mfma=16,waves_per_eu=0,const_k=0,"
            "wave_split=auto");
  // 64 rows of 16 experts: blocks for 4 rows.
  EXPECT_EQ(config_text(grouped_kernel.complete({.experts = 16}, ProblemSize{64, 96, 512}).value()),
            "block_m=16,block_n=32,block_k=256,waves=4,stages=2,mfma=16,waves_per_eu=0,const_k=0,"
            "wave_split=auto,experts=16");
  EXPECT_EQ(grouped_kernel.complete({}, std::nullopt).value().experts, 8);
}

TEST(ConfigChecks, NameWhatIsNotSupported) {
  EXPECT_EQ(gemm_error({.split_k = 2, .reduce = Reduce::None}),
            "mxfp4_gemm_fused: split_k=2 needs a way to reduce");
  EXPECT_EQ(gemm_error({.tile = {.block_m = 16, .mfma = 32}}),
            "mxfp4_gemm_fused: mfma=32 does not fit block_m=16");
  const ProblemSize size{16, 16, 32};
  EXPECT_EQ(gemm_fused_kernel.complete({.tile = {.block_n = 16, .mfma = 32}}, size).error().remedy,
            "use block_n=32");
  EXPECT_EQ(gemm_fused_kernel.complete({.tile = {.mfma = 32}}, size).value().tile.block_m, 32);
  EXPECT_EQ(gemm_error({.tile = {.waves = 3}}), "mxfp4_gemm_fused: waves=3 is not a power of two");
  EXPECT_EQ(gemm_fused_kernel.complete({.tile = {.waves = 3}}, std::nullopt).error().remedy, "use waves=4");
  EXPECT_EQ(gemm_kernel.complete({.tile = {.block_m = 24}}, std::nullopt).error().message,
            "mxfp4_gemm: block_m=24 is neither a power of two nor a multiple of 16");
  EXPECT_EQ(gemm_error({.tile = {.block_n = 24}}), "mxfp4_gemm_fused: block_n=24 is not a multiple of 16");
  EXPECT_EQ(gemm_fused_kernel.complete({.tile = {.const_k = true}}, std::nullopt).error().message,
            "mxfp4_gemm_fused: const_k=1 needs a shape");
  EXPECT_EQ(grouped_kernel.complete({.tile = {.const_k = true}}, std::nullopt).error().message,
            "mxfp4_grouped_gemm: const_k=1 needs a shape");
}

TEST(ConfigChecks, ValuesOutsideTheLimitsAreRefusedWithoutText) {
  EXPECT_EQ(gemm_error({.tile = {.block_m = 0}}), "config value block_m=0 is outside 1 to 1024");
  EXPECT_EQ(gemm_error({.tile = {.block_k = -256}}), "config value block_k=-256 is outside 32 to 4096");
  EXPECT_EQ(gemm_error({.split_k = 0}), "config value split_k=0 is outside 1 to 1024");
  EXPECT_EQ(grouped_kernel.complete({.experts = 0}, ProblemSize{16, 64, 512}).error().message,
            "config value experts=0 is outside 1 to 1024");
  EXPECT_EQ(plan_gemm(GemmPath::Workspace, {.tile = {.block_k = 0}}, {16, 64, 512}).error().message,
            "config value block_k=0 is outside 32 to 4096");
}

TEST(ConfigChecks, BlocksOfRowsFitAGrid) {
  const ProblemSize tall{1 << 20, 64, 512};
  const ProblemSize tall_a{tall.m, 0, tall.k};
  for (const bool fused : {true, false})
    EXPECT_TRUE(complete_gemm(fused, {}, tall).ok()) << fused;
  EXPECT_TRUE(quant_kernel.complete({}, tall_a).ok());
  EXPECT_EQ(reduce_kernel.complete({}, tall).value().block_m, 32);
  const Error refused = gemm_fused_kernel.complete({.tile = {.block_m = 16}}, tall).error();
  EXPECT_EQ(refused.owner, Owner::User);
  EXPECT_EQ(refused.message,
            "mxfp4_gemm_fused: M=1048576 in blocks of block_m=16 are 65536 programs, a grid has "
            "at most 65535 in y and z");
  EXPECT_EQ(refused.remedy, "use block_m=32");
  EXPECT_FALSE(quant_kernel.complete({.block_m = 8}, tall_a).ok());
  EXPECT_FALSE(reduce_kernel.complete({.block_m = 4}, tall).ok());
}

TEST(ConfigChecks, TakeEverySideThatIsAMultipleOf16) {
  for (const bool fused : {true, false})
    for (int rows : {4, 8, 16, 32, 48, 64, 80, 96, 128, 160, 192, 224, 256}) {
      EXPECT_TRUE(complete_gemm(fused, {.tile = {.block_m = rows, .block_n = 64, .waves = 4}}, {}).ok())
          << rows;
      EXPECT_TRUE(quant_kernel.complete({.block_m = rows}, {}).ok()) << rows;
    }
  for (const bool fused : {true, false})
    for (int columns = 16; columns <= 272; columns += 16)
      EXPECT_TRUE(complete_gemm(fused, {.tile = {.block_m = 48, .block_n = columns, .waves = 4}}, {}).ok())
          << columns;
  for (int k : {32, 96, 128, 384, 512, 768})
    EXPECT_TRUE(gemm_fused_kernel.complete({.tile = {.block_m = 48, .block_k = k}}, {}).ok()) << k;
}

TEST(ConfigChecks, ErrorsNameTheNearestConfigThatFits) {
  for (const bool fused : {true, false})
    for (int rows : {4, 24, 48, 192, 256, 512})
      for (int columns : {16, 40, 144, 272, 1024})
        for (int waves : {1, 3, 4})
          for (int mfma : {16, 32}) {
            const Partial<TileConfig> tile{.block_m = rows, .block_n = columns, .waves = waves, .mfma = mfma};
            const Result<GemmConfig> refused = complete_gemm(fused, {.tile = tile}, std::nullopt);
            if (refused)
              continue;
            const std::string &remedy = refused.error().remedy;
            ASSERT_EQ(remedy.substr(0, 4), "use ") << config_text(tile);
            // The nearest is the given one with what the remedy says.
            const Partial<TileConfig> changes = parse_partial<TileConfig>(remedy.substr(4)).value();
            Partial<TileConfig> nearest = tile;
            nearest.block_m = changes.block_m ? changes.block_m : tile.block_m;
            nearest.block_n = changes.block_n ? changes.block_n : tile.block_n;
            nearest.block_k = changes.block_k ? changes.block_k : tile.block_k;
            nearest.waves = changes.waves ? changes.waves : tile.waves;
            nearest.mfma = changes.mfma ? changes.mfma : tile.mfma;
            EXPECT_TRUE(complete_gemm(fused, {.tile = nearest}, std::nullopt).ok())
                << config_text(tile) << ": " << remedy;
          }
  EXPECT_EQ(
      gemm_fused_kernel.complete({.tile = {.block_m = 256, .block_n = 272, .waves = 4}}, {}).error().remedy,
      "use block_n=256");
  // A K beyond the blocks of rows and columns has its neighbours too.
  EXPECT_EQ(gemm_fused_kernel.complete({.tile = {.block_k = 1100}}, {}).error().remedy, "use block_k=1088");
}

TEST(ConfigChecks, TheLibrarysTilesFitTheWidestIteration) {
  for (const bool fused : {true, false})
    for (const int64_t m : {1, 20, 300})
      EXPECT_TRUE(complete_gemm(fused, {.tile = {.block_k = 4096}}, ProblemSize{m, 256, 4096}).ok())
          << fused << m;
  EXPECT_TRUE(quant_kernel.complete({.block_k = 4096}, ProblemSize{300, 0, 4096}).ok());
}

TEST(GemmPlan, ContradictionsOfPathAndConfigAreUserErrors) {
  const ProblemSize size{16, 64, 1024};
  for (const auto &[path, config] : std::initializer_list<std::pair<GemmPath, Partial<GemmConfig>>>{
           {GemmPath::Fused, {.split_k = 2}},
           {GemmPath::Fused, {.reduce = Reduce::Atomic}},
           {GemmPath::Atomic, {.reduce = Reduce::Workspace}},
           {GemmPath::Workspace, {.reduce = Reduce::None}}}) {
    const Result<GemmPlan> plan = plan_gemm(path, config, size);
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(plan.error().owner, Owner::User);
    EXPECT_EQ(plan.error().message,
              "--config " + config_text(config) + " contradicts --path " + std::string(name_of(path)));
  }
  // Nobody named a path: the config contradicts itself.
  EXPECT_EQ(plan_gemm(GemmPath::Auto, {.split_k = 4, .reduce = Reduce::None}, size).error().message,
            "mxfp4_gemm_fused: split_k=4 needs a way to reduce");
}

TEST(GemmPlan, PathsHaveTheNamesOfTheCommandLine) {
  for (GemmPath path :
       {GemmPath::Auto, GemmPath::Fused, GemmPath::Atomic, GemmPath::Workspace, GemmPath::TwoPass})
    EXPECT_EQ(path_named(name_of(path)).value(), path);
  EXPECT_EQ(name_of(GemmPath::TwoPass), "staged");
  EXPECT_EQ(path_named("two_pass").error().remedy, "paths: auto, fused, atomic, workspace, staged");
}

TEST(TuningLists, HoldTheListedNumbersOfConfigsAndAllAreValid) {
  EXPECT_EQ(tuning_list(GemmPath::Fused).size(), 10U);
  EXPECT_EQ(tuning_list(GemmPath::Atomic).size(), 6U);
  EXPECT_EQ(tuning_list(GemmPath::Workspace).size(), 28U);
  for (GemmPath path : {GemmPath::Fused, GemmPath::Atomic, GemmPath::Workspace, GemmPath::TwoPass})
    for (const Partial<GemmConfig> &config : tuning_list(path))
      EXPECT_TRUE(plan_gemm(path, config, {33, 144, 1312}).ok()) << config_text(config);
}

TEST(Registry, KnowsItsKernelsByName) {
  for (const char *name : {"mxfp4_quant", "mxfp4_gemm_fused", "mxfp4_gemm", "mxfp4_batched_gemm",
                           "mxfp4_grouped_gemm", "splitk_reduce", "mxfp4_rmsnorm_quant", "mxfp4_act_quant",
                           "moe_route", "moe_up", "moe_down", "rope_cache", "attention", "matmul",
                           "mla_decode", "mla_combine", "attention_decode", "attention_combine"})
    EXPECT_EQ(kernel_named(name).value()->name, name);
  EXPECT_EQ(kernel_named("gemm").error().message, "there is no kernel 'gemm'");
  EXPECT_EQ(check_size(*kernel_named("mxfp4_quant").value(), {16, 32, 64}).error().message,
            "mxfp4_quant has no N: its size is M,0,K");
}

TEST(Registry, EachKernelHasARuleOfItsOwnForSizes) {
  const auto check = [](const char *kernel, const ProblemSize &size) {
    const Status status = check_size(*kernel_named(kernel).value(), size);
    return status ? std::string() : status.error().message;
  };
  struct Case {
    const char *kernel;
    ProblemSize size;
    const char *message = "";
  };
  const Case cases[] = {
      {"mxfp4_gemm", {17, 48, 96}},
      {"mxfp4_gemm", {17, 40, 96}, "N = 40 is not a multiple of 16"},
      {"mxfp4_gemm", {17, 48, 100}, "K = 100 is not a multiple of 32"},
      {"mxfp4_grouped_gemm", {17, 40, 96}, "N = 40 is not a multiple of 16"},
      {"moe_up", {17, 48, 96}, "N = 48 is not a multiple of 32"},
      {"moe_down", {17, 48, 96}},
      {"mxfp4_act_quant", {17, 0, 100}, "K = 100 is not a multiple of 32"},
      {"mxfp4_rmsnorm_quant", {17, 16, 96}, "mxfp4_rmsnorm_quant has no N: its size is M,0,K"},
      {"moe_route", {17, 0, 0}},
      {"rope_cache", {17, 0, 100}},
      {"splitk_reduce", {17, 48, 0}},
      {"splitk_reduce", {17, 40, 0}, "N = 40 is not a multiple of 16"},
      {"matmul", {17, 33, 5}},
      {"matmul", {17, 0, 5}, "N = 0 is not positive"},
      {"attention", {17, 33, 100}},
      {"attention", {17, 0, 0}},
      {"attention", {17, -1, 0}, "N = -1 is negative"},
      {"attention", {0, 33, 128}, "M = 0 is not positive"},
      {"attention_decode", {70000, 33, 128}, "M = 70000 is too large: it is at most 65535"},
      {"attention_combine", {1, 33, 128}},
      {"mla_decode", {17, 1001, 576}},
      {"mla_combine", {17, 1001, 576}},
  };
  for (const auto &[kernel, size, message] : cases)
    EXPECT_EQ(check(kernel, size), message) << kernel << " " << size.text();
}

TEST(Registry, LaunchesOfSizesByTheRulesAreWhole) {
  for (const auto &[kernel, size] : {std::pair<const char *, ProblemSize>{"attention", {17, 33, 100}},
                                     {"attention", {17, 0, 0}},
                                     {"attention_decode", {1, 33, 128}},
                                     {"mla_decode", {3, 33, 576}},
                                     {"moe_route", {17, 0, 0}},
                                     {"rope_cache", {17, 0, 0}},
                                     {"matmul", {17, 33, 5}}}) {
    const auto configured = kernel_named(kernel).value()->configure("", size);
    ASSERT_TRUE(configured) << configured.error().text();
    const auto launch = configured->example_launch({});
    EXPECT_TRUE(launch) << kernel << ": " << launch.error().text();
  }
}
