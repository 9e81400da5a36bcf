#include "base/result.h"

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

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

Result<std::vector<int>> counted(int count) {
  std::vector<int> numbers;
  for (int i = 1; i <= count; ++i)
    numbers.push_back(i);
  return numbers;
}

// A reference into a result that is gone by the time it is used would not be seen by the compiler.
TEST(Result, WhatATemporaryGivesOutlivesIt) {
  static_assert(std::is_same_v<decltype(counted(3).value()), std::vector<int>>);
  static_assert(std::is_same_v<decltype(*counted(3)), std::vector<int>>);
  static_assert(std::is_same_v<decltype(counted(3).error()), Error>);
  static_assert(std::is_same_v<decltype(checked(false).error()), Error>);
  int sum = 0;
  for (int number : counted(3).value())
    sum += number;
  for (int number : *counted(4))
    sum += number;
  EXPECT_EQ(sum, 6 + 10);
}

Result<size_t> length_of_half(int value) {
  NEREID_TRY(const std::string half, half_of(value));
  NEREID_CHECK(checked(value != 2));
  NEREID_TRY(auto again, half_of(value + 2));
  return half.size() + again.size();
}

TEST(Result, TryReturnsTheErrorAndGoesOnWithTheValue) {
  EXPECT_EQ(length_of_half(4).value(), 8u);
  EXPECT_EQ(length_of_half(7).error().where.line, 12u);
  EXPECT_EQ(length_of_half(2).error().message, "the disk is full");
}

// clang-format off
Result<size_t> length_of_halves(int first, int second) {
  NEREID_TRY(const std::string one, half_of(first)); NEREID_TRY(const std::string other, half_of(second));
  return one.size() + other.size();
}
// clang-format on

TEST(Result, ALineMayTryTwice) {
  EXPECT_EQ(length_of_halves(4, 6).value(), 8u);
  EXPECT_FALSE(length_of_halves(7, 6).ok());
  EXPECT_FALSE(length_of_halves(4, 7).ok());
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
