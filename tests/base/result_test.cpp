#include "base/result.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace nereid {
namespace {

Result<std::string> half_of(int value) {
  if (value % 2)
    return user_error("7 is odd", "Give an even number", {"halves.cpp", 12});
  return std::string("half");
}

Status checked(bool right) {
  if (right)
    return {};
  return environment_error("the disk is full");
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_TRUE(half_of(4).ok());
  EXPECT_EQ(half_of(4).value(), "half");
  EXPECT_EQ(half_of(4)->size(), 4u);
  const Result<std::string> failed = half_of(7);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().owner, Owner::User);
  EXPECT_EQ(failed.error().message, "7 is odd");
}

TEST(Result, AMovedValueLeaves) {
  Result<std::unique_ptr<int>> held(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = std::move(held).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Result, AStatusIsRightOrAnError) {
  checked(true).value();
  EXPECT_EQ(checked(false).error().message, "the disk is full");
}

TEST(ResultDeathTest, TheValueOfAnErrorPrintsIt) {
  constexpr const char *text = "halves.cpp:12: user error: 7 is odd. Give an even number";
  const Result<std::string> failed = half_of(7);
  EXPECT_DEATH(half_of(7).value(), text);
  EXPECT_DEATH(static_cast<void>(failed.value()), text);
  EXPECT_DEATH(static_cast<void>(*failed), text);
  EXPECT_DEATH(static_cast<void>(failed->size()), text);
  EXPECT_DEATH(checked(false).value(), "environment error: the disk is full");
}

TEST(ResultDeathTest, TheErrorOfASuccessIsRefused) {
  EXPECT_DEATH(static_cast<void>(half_of(4).error()), "error\\(\\) of a result that is none");
  EXPECT_DEATH(static_cast<void>(checked(true).error()), "error\\(\\) of a result that is none");
}

} // namespace
} // namespace nereid
