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

TEST(TraceConfig, Json) {
  EXPECT_EQ(config_json(Gemm{}), R"({"block_m": 16, "split_k": 1, "shuffled": "0", "reduce": "none"})");
  EXPECT_EQ(config_json(NoConfig{}), "{}");
}

TEST(TraceConfig, ErrorsSayWhatIsKnown) {
  Gemm c;
  auto text = [&](std::string_view given) {
    Status status = config_parse(c, given);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.error().owner, Owner::User);
    return status.error().text();
  };
  EXPECT_EQ(text("block_q=3"),
            "user error: unknown config key 'block_q'. Known keys: block_m, split_k, shuffled, reduce");
  EXPECT_EQ(text("reduce=tree"),
            "user error: config key reduce has no value 'tree'. Use one of: none, atomic, workspace");
  EXPECT_EQ(text("split_k=8x"),
            "user error: config key split_k: '8x' is no 32-bit integer. Write split_k=<integer>");
  EXPECT_EQ(text("split_k="),
            "user error: config key split_k: '' is no 32-bit integer. Write split_k=<integer>");
  EXPECT_EQ(text("split_k=99999999999"),
            "user error: config key split_k: '99999999999' is no 32-bit integer. Write split_k=<integer>");
  EXPECT_EQ(text("split_k"),
            "user error: config 'split_k' is not of the form key=value. Write key=value,key=value");
}

TEST(TraceConfig, AnErrorChangesNothing) {
  Gemm c;
  EXPECT_FALSE(config_parse(c, "split_k=8,block_q=1").ok());
  EXPECT_EQ(c.split_k, 1);
}

} // namespace
} // namespace nereid::test
