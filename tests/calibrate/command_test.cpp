// nereid-calibrate as a process.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/Program.h>

#include "tests/calibrate/product_kernel.h"

namespace nereid::calibrate {
namespace {

struct Answer {
  int exit_code = -1;
  std::string out, err;
};

std::string text_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Answer run(const std::vector<std::string> &arguments) {
  const test::ObjectFolder folder({});
  const std::string out = folder.path("stdout"), err = folder.path("stderr");
  std::vector<llvm::StringRef> argv = {NEREID_CALIBRATE};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const std::optional<llvm::StringRef> redirects[] = {llvm::StringRef("/dev/null"), llvm::StringRef(out),
                                                      llvm::StringRef(err)};
  Answer answer;
  answer.exit_code = llvm::sys::ExecuteAndWait(NEREID_CALIBRATE, argv, std::nullopt, redirects, 300);
  answer.out = text_of(out);
  answer.err = text_of(err);
  return answer;
}

llvm::json::Object json_of(const Answer &answer) {
  auto value = llvm::json::parse(answer.out);
  if (!value || value->getAsObject() == nullptr) {
    ADD_FAILURE() << "not a JSON object: " << answer.out << answer.err;
    llvm::consumeError(value.takeError());
    return {};
  }
  return std::move(*value->getAsObject());
}

/// The figures of the class "all" of a model.
const llvm::json::Object &figures(const llvm::json::Object &answer, size_t model, size_t row) {
  return *(*(*answer.getArray("models"))[model].getAsObject()->getArray("classes"))[row].getAsObject();
}

TEST(Calibrate, CountedProfilesReachTheAccuracyThatTheDocsState) {
  const Answer answer = run({"--quick", "--times", NEREID_TIMES, "--fit", "--json"});
  EXPECT_EQ(answer.exit_code, 0) << answer.err;
  const llvm::json::Object json = json_of(answer);
  EXPECT_EQ(json.getInteger("measurements"), 741);
  EXPECT_EQ(json.getInteger("pairs"), 64);
  ASSERT_EQ(json.getArray("models")->size(), 3u);
  const llvm::json::Object &model = *(*json.getArray("models"))[2].getAsObject();
  EXPECT_EQ(model.getString("model"), "cross_validated");
  EXPECT_GT(*model.getNumber("spearman"), 0.998);
  const struct {
    double median, p90;
  } limits[] = {{0.04, 0.12}, {0.06, 0.17}, {0.04, 0.10}, {0.03, 0.09}};
  for (size_t i = 0; i < std::size(limits); ++i) {
    EXPECT_LT(*figures(json, 2, i).getNumber("median"), limits[i].median) << i;
    EXPECT_LT(*figures(json, 2, i).getNumber("p90"), limits[i].p90) << i;
  }
}

TEST(Calibrate, TwoRunsPrintTheSameBytes) {
  const std::vector<std::string> arguments = {"--quick",  "--times",     NEREID_TIMES, "--fit",
                                              "--report", "--all-tiles", "20"};
  const Answer first = run(arguments), second = run(arguments);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, second.out);
  for (const char *part : {"741 measurements", "Cross-validated: 5 folds", "Spearman", "By tile", "Worst",
                           "unit_load_rate", "Measured tile among all"})
    EXPECT_NE(first.out.find(part), std::string::npos) << part;
}

TEST(Calibrate, SimulatesTheKernelsOfAFolder) {
  const test::ObjectFolder folder({{32, 128}, {64, 128}});
  std::ofstream(folder.path("times.csv")) << "M,N,K,tile_m,tile_n,us\n"
                                          << "16,1024,4096,32,128,6\n16,1024,4096,64,128,7\n"
                                          << "64,2048,1024,32,128,5\n";
  const std::vector<std::string> arguments = {
      "--objects",  folder.path(),           "--times", folder.path("times.csv"), "--report",
      "--profiles", folder.path("profiles"), "--json"};
  const Answer first = run(arguments), second = run(arguments);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, second.out) << "the second run takes the profiles from the file";
  EXPECT_EQ(figures(json_of(first), 0, 0).getInteger("rows"), 3);
  EXPECT_EQ(json_of(first).getObject("tile_choice")->getObject("among_measured")->getInteger("shapes"), 1);
}

TEST(Calibrate, BadInputIsTheUsersAndExits2) {
  const test::ObjectFolder folder({{32, 128}});
  std::ofstream(folder.path("one.csv")) << "M,N,K,tile_m,tile_n,us\n16,1024,4096,32,128,6\n";
  std::ofstream(folder.path("bad.csv")) << "M,N,K,tile_m,tile_n,us\n1,2,3\n";
  std::ofstream(folder.path("other.csv")) << "M,N,K,tile_m,tile_n,us\n1,128,256,96,128,3\n";
  const struct {
    std::vector<std::string> arguments;
    std::string says;
  } rows[] = {
      {{}, "--times is required"},
      {{"--times", NEREID_TIMES}, "give --objects DIR"},
      {{"--times", folder.path("one.csv"), "--quick", "--fit"}, "--fit of 1 measurements"},
      {{"--times", "/no/such.csv", "--quick"}, "cannot read /no/such.csv"},
      {{"--times", folder.path("bad.csv"), "--quick"}, "bad.csv:2: user error: 3 fields"},
      {{"--times", folder.path("other.csv"), "--objects", folder.path()}, "tile 96x128"},
      {{"--times", NEREID_TIMES, "--objects", "/no/such"}, "cannot read the folder"},
      {{"--times", NEREID_TIMES, "--quick", "--campaigns", "mine"}, "--campaigns"},
      {{"--times", NEREID_TIMES, "--quick", "--folds", "1"}, "--folds"},
      {{"--times", folder.path("other.csv"), "--objects", folder.path(), "--profiles",
        folder.path("other.csv")},
       "is an input and an output, the input of --times"},
  };
  for (const auto &row : rows) {
    const Answer answer = run(row.arguments);
    EXPECT_EQ(answer.exit_code, 2) << row.says;
    EXPECT_NE(answer.err.find(row.says), std::string::npos) << answer.err;
  }
}

} // namespace
} // namespace nereid::calibrate
