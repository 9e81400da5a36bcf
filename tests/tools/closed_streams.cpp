// Files stay what they are when standard streams are closed: no output of the command goes into one that got
// the number of a stream.
#include <cstdlib>
#include <filesystem>
#include <sys/wait.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/host/problem.h"
#include "tests/tools/command_runner.h"

using namespace nereid::tools::test;
namespace host = nereid::kernels::host;

namespace {

/// Runs the command by a shell with redirections like ">&-"; its exit code.
int run_redirected(const std::string &arguments, const std::string &redirections) {
  setenv("NEREID_CACHE_DIR", NEREID_TEST_CACHE, /*overwrite=*/1);
  const std::string line = fmt::format("'{}' {} {}", NEREID_COMMAND, arguments, redirections);
  const int status = std::system(line.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class ClosedStreams : public ::testing::TestWithParam<int> {
protected:
  bool is_closed(int stream) const { return (GetParam() >> stream & 1) != 0; }
  /// Where the command writes what it says, and whether it can.
  std::string redirections() const {
    std::string text;
    for (int stream = 0; stream <= 2; ++stream)
      if (is_closed(stream))
        text += fmt::format("{}>&- ", stream);
      else if (stream > 0)
        text += fmt::format("{}>/dev/null ", stream);
    return text;
  }
  int code_of_success() const { return is_closed(1) ? 3 : 0; }

  WorkDirectory directory_;
};

TEST_P(ClosedStreams, FilesHoldWhatTheyShould) {
  const int64_t m = 3, n = 32, k = 64;
  const std::string shape = fmt::format("--m {} --n {} --k {}", m, n, k);
  const std::string data = directory_.path("data");
  EXPECT_EQ(run_redirected(fmt::format("sample {} --out-dir {} --seed 5", shape, data), redirections()),
            code_of_success());
  const host::Operands expected = host::random_operands(m, n, k, 5);
  EXPECT_EQ(directory_.read("data/b.bin"), expected.b);
  EXPECT_EQ(directory_.read("data/b_scales.bin"), expected.b_scales);

  const std::string operands = fmt::format("--a {0}/a.bin --b {0}/b.bin --b-scales {0}/b_scales.bin", data);
  EXPECT_EQ(run_redirected(fmt::format("gemm {} {} --device sim --check --out {}", shape, operands,
                                       directory_.path("c.bin")),
                           redirections()),
            code_of_success());
  const std::vector<uint8_t> c = directory_.read("c.bin");
  ASSERT_EQ(c.size(), static_cast<size_t>(m * n * 2));
  std::vector<uint16_t> product(c.size() / 2);
  std::copy(c.begin(), c.end(), reinterpret_cast<uint8_t *>(product.data()));
  EXPECT_TRUE(
      host::check_product(m, n, k, expected.a, expected.b, expected.b_scales, product).value().passed());

  EXPECT_EQ(
      run_redirected(fmt::format("quant --m {} --k {} --in {}/a.bin --device sim --out-q {} --out-scales {}",
                                 m, k, data, directory_.path("q"), directory_.path("s")),
                     redirections()),
      code_of_success());
  EXPECT_EQ(directory_.read("q").size(), static_cast<size_t>(m * k / 2));
  EXPECT_EQ(directory_.read("s").size(), static_cast<size_t>(m * k / 32));
}

INSTANTIATE_TEST_SUITE_P(Each, ClosedStreams, ::testing::Range(0, 8),
                         [](const auto &info) { return "Streams" + std::to_string(info.param); });

} // namespace
