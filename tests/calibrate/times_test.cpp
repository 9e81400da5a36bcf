// Tables of measured times: what they say, and what is refused where.
#include <gtest/gtest.h>

#include "tools/calibrate/campaigns.h"
#include "tools/calibrate/times.h"

namespace nereid::calibrate {
namespace {

const std::string header = "M,N,K,tile_m,tile_n,us\n";

/// The text of the error with which a table is refused; the user gave it.
std::string refusal(const std::string &text) {
  const auto rows = parse_times(text, "t.csv");
  if (rows) {
    ADD_FAILURE() << "taken: " << text;
    return "";
  }
  EXPECT_EQ(rows.error().owner, Owner::User);
  return rows.error().text();
}

TEST(Times, ARowIsALaunchWithItsTimeAndLine) {
  const auto rows = parse_times(header + "16,2112,7168,32,128,8.25\r\n\n1,800,5120,64,128,9\n", "t.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().text();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].shape, (Shape{16, 2112, 7168}));
  EXPECT_EQ((*rows)[0].tile, (Tile{32, 128}));
  EXPECT_EQ((*rows)[0].us, 8.25);
  EXPECT_EQ((*rows)[1].where.text(), "t.csv:4");
}

TEST(Times, BadTablesAreRefusedWithFileAndLine) {
  EXPECT_EQ(refusal("m,n,k\n1,2,3\n"),
            "t.csv:1: user error: the first line is 'm,n,k'. it has to be M,N,K,tile_m,tile_n,us");
  EXPECT_EQ(refusal(header + "1,2,3,4,5\n"),
            "t.csv:2: user error: 5 fields, expected 6. the fields are M,N,K,tile_m,tile_n,us");
  EXPECT_EQ(refusal(header + "1,2,32,4,5,6\n1,x,3,4,5,6\n"),
            "t.csv:3: user error: N is 'x'. give a whole number from 1 to 2147483648");
  EXPECT_EQ(refusal(header + "0,2,3,4,5,6\n"),
            "t.csv:2: user error: M is '0'. give a whole number from 1 to 2147483648");
  EXPECT_EQ(refusal(header + "1,2,3,4,99999999999,6\n"),
            "t.csv:2: user error: tile_n is '99999999999'. give a whole number from 1 to 2147483648");
  for (const char *us : {"0", "-3", "nan", "inf", "", "8.2us"})
    EXPECT_EQ(refusal(header + "1,2,3,4,5," + us + "\n"),
              "t.csv:2: user error: us is '" + std::string(us) + "'. give microseconds above 0");
  EXPECT_EQ(refusal(header + "1,2,3,4,5,6\n1,2,3,4,5,7\n"),
            "t.csv:3: user error: line 2 has this launch already. keep one of them");
  EXPECT_EQ(refusal(header), "t.csv:1: user error: the table has no measurement");
}

TEST(Times, AFileThatCannotBeReadIsTheUsers) {
  const auto rows = read_times("/no/such/file.csv");
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().owner, Owner::User);
  EXPECT_NE(rows.error().message.find("/no/such/file.csv"), std::string::npos);
}

TEST(Times, ThePublicTableHas391RowsOfTheEarlyCampaign) {
  const auto rows = read_times(NEREID_TIMES);
  ASSERT_TRUE(rows.ok()) << rows.error().text();
  EXPECT_EQ(rows->size(), 741u);
  size_t early = 0;
  for (const Measurement &row : *rows)
    early += measured_early(row.shape) ? 1 : 0;
  EXPECT_EQ(early, 391u);
  EXPECT_TRUE(measured_early({160, 8192, 8192}));
  EXPECT_FALSE(measured_early({1, 8192, 8192}));
  EXPECT_FALSE(measured_early({1, 4096, 4096}));
}

} // namespace
} // namespace nereid::calibrate
