// A process that finds its kernel on disk leaves LLVM's code generator alone.
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "tests/jit/temporary_directory.h"

namespace nereid::test {
namespace {

std::string first_launch() {
  FILE *out = popen(NEREID_FIRST_LAUNCH, "r");
  char line[200] = {};
  const bool has_line = out && std::fgets(line, sizeof(line), out);
  const int status = out ? pclose(out) : -1;
  return has_line && status == 0 ? line : "it failed";
}

TEST(FreshProcess, TouchesLlvmOnlyToCompile) {
  TemporaryDirectory directory;
  ScopedEnvironment cache("NEREID_CACHE_DIR", directory.path());
  ScopedEnvironment compiler("NEREID_COMPILER", "embedded");
  EXPECT_EQ(first_launch(), "none, LLVM touched\n");
  EXPECT_EQ(first_launch(), "disk, LLVM untouched\n");
}

} // namespace
} // namespace nereid::test
