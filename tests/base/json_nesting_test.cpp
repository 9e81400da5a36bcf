// What is refused before LLVM's parser of JSON sees it.
#include <string>

#include <gtest/gtest.h>

#include "base/json_nesting.h"

namespace nereid {
namespace {

std::string message_of(const std::string &text) {
  const Status status = check_json_nesting(text);
  return status ? "" : status.error().message;
}

TEST(JsonNesting, IsBounded) {
  EXPECT_EQ(message_of(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_EQ(message_of(std::string(65, '[')), "is nested deeper than 64");
  EXPECT_EQ(message_of(std::string(2'000'000, '{')), "is nested deeper than 64");
  EXPECT_EQ(message_of("\"" + std::string(100, '[') + "\\\"[[\""), "") << "a string nests nothing";
}

TEST(JsonNesting, RefusesAKeyThatAnObjectHasTwice) {
  EXPECT_EQ(message_of(R"({"a": 1, "b": {"a": 2}})"), "");
  EXPECT_EQ(message_of(R"({"a": 1, "a": 2})"), "has the key 'a' twice in one object");
}

} // namespace
} // namespace nereid
