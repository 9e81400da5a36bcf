// Tables: their text, their files, what damages them, what they remember.
#include "jit/tune/tuning_table.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "jit/tune/table_file.h"
#include "tests/jit/temporary_directory.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

namespace nereid::test {
namespace {

TuningRecord record(const std::string &key, const std::string &config, double figure) {
  TuningRecord made{.key = key, .config = config, .unit = "us", .ranking = "simulated time", .code = "c0de"};
  made.figure = figure;
  made.launches = 1;
  return made;
}
TuningRecord rejected(const std::string &key, const std::string &config, const std::string &reason) {
  return {.key = key, .config = config, .ranking = "simulated time", .rejected = reason, .code = "c0de"};
}

std::string content(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
/// Lines as a table's file has them, with their checksum.
std::string with_checksum(const std::string &lines) {
  const auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(lines));
  return lines + "{\"sha256\":\"" + llvm::toHex(hash, /*LowerCase=*/true) + "\"}\n";
}

void write(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(TuningTable, IsReadableAndDoesNotDependOnTheOrderOfRecords) {
  KernelTunings tunings("scale", "a device");
  tunings.add(record("n=16", "block=64", 12.5));
  tunings.add(record("n=8", "block=1024", 3));
  tunings.add(rejected("n=8", "block=256", "wrong: \"quoted\""));
  const std::string text = tunings.text();
  EXPECT_EQ(text.substr(0, text.rfind("{\"sha256\"")),
            R"({"format":"nereid tuning table 2","kernel":"scale","device":"a device"}
{"key":"n=8","config":"block=256","ranking":"simulated time","rejected":"wrong: \"quoted\"","code":"c0de"}
{"key":"n=8","config":"block=1024","best":true,"figure":3,"unit":"us","ranking":"simulated time","code":"c0de","launches":1}
{"key":"n=16","config":"block=64","best":true,"figure":12.5,"unit":"us","ranking":"simulated time","code":"c0de","launches":1}
)");
  const auto again = KernelTunings::parse(text, "t");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->text(), text);
  EXPECT_EQ(again->records("n=8"), tunings.records("n=8"));

  KernelTunings other("scale", "a device");
  other.add(rejected("n=8", "block=256", "wrong: \"quoted\""));
  other.add(record("n=8", "block=1024", 3));
  other.add(record("n=16", "block=64", 12.5));
  EXPECT_EQ(other.text(), text);
}

TEST(TuningTable, KeepsOneOfTwoRecordsInWhateverOrderTheyCome) {
  const TuningRecord slow = record("k", "c", 2), fast = record("k", "c", 1);
  const TuningRecord wrong = rejected("k", "c", "wrong"), late = rejected("k", "c", "no figure");
  for (const auto &[a, b, kept] :
       {std::tuple(slow, fast, fast), std::tuple(fast, wrong, wrong), std::tuple(late, wrong, late)}) {
    EXPECT_EQ(kept_of(a, b), kept);
    EXPECT_EQ(kept_of(b, a), kept);
  }
  TuningRecord newer = slow;
  TuningRecord no_code = wrong;
  no_code.code.clear();
  EXPECT_EQ(kept_of(slow, no_code), slow) << "a rejection that is not of code goes behind";
  EXPECT_EQ(kept_of(no_code, slow), slow);
  TuningRecord imported = fast;
  imported.ranking = imported_ranking;
  EXPECT_EQ(kept_of(slow, imported), slow) << "the stronger ranking";
  EXPECT_EQ(kept_of(imported, slow), slow);
  newer.code = "another";
  EXPECT_EQ(kept_of(fast, newer), newer) << "other code: the later record";
  EXPECT_EQ(kept_of(newer, fast), fast);
}

TEST(TuningTable, ComparesFiguresOfTheRankingThatSaysMost) {
  KernelTunings tunings("k", "d");
  TuningRecord imported = record("n=1", "block=1", 0.5), estimate = record("n=1", "block=2", 1);
  imported.ranking = imported_ranking;
  estimate.ranking = "estimate";
  tunings.add(imported);
  EXPECT_EQ(tunings.winner("n=1")->config, "block=1");
  tunings.add(estimate);
  EXPECT_EQ(tunings.winner("n=1")->config, "block=2");
  tunings.add(record("n=1", "block=3", 700));
  EXPECT_EQ(tunings.winner("n=1")->config, "block=3");
  tunings.add(rejected("n=2", "block=3", "wrong"));
  EXPECT_EQ(tunings.winner("n=2"), nullptr);
  EXPECT_EQ(tunings.winner("n=3"), nullptr);
}

TEST(TuningTable, ComparesFiguresOfOneStateOfTheCachesAndOneIdentity) {
  KernelTunings tunings("k", "d");
  const auto with = [](const char *config, double figure, const char *caches, const char *identity) {
    TuningRecord made = record("n=1", config, figure);
    made.caches = caches;
    made.identity = identity;
    return made;
  };
  tunings.add(with("block=1", 3, "cold", "c"));
  tunings.add(with("block=1", 2, "warm", "w"));
  EXPECT_EQ(tunings.winner("n=1")->caches, "warm");
  tunings.add(with("block=2", 7, "rotating", "r"));
  EXPECT_EQ(tunings.winner("n=1")->config, "block=2") << "though others have smaller figures";
  EXPECT_EQ(tunings.records("n=1").size(), 3u);
  EXPECT_EQ(tunings.find("n=1", "block=1", "simulated time", "warm")->figure, 2);
  tunings.add(with("block=3", 9, "rotating", "of another simulator"));
  EXPECT_EQ(tunings.winner("n=1")->config, "block=3");
  EXPECT_EQ(tunings.find("n=1", "block=2", "simulated time", "rotating"), nullptr)
      << "its figure does not compare any more";
}

TEST(TuningTable, TheStrongerRankingStaysInLookUps) {
  KernelTunings own("scale", "d"), shipped("scale", "d");
  TuningRecord imported = record("n=8", "block=1", 1);
  imported.ranking = imported_ranking;
  own.add(imported);
  own.add(record("n=9", "block=2", 5));
  shipped.add(record("n=8", "block=64", 4));
  shipped.add(record("n=9", "block=64", 4));
  TuningTable table;
  table.add(own);
  table.add(shipped);
  EXPECT_EQ(table.lookup("scale", "n=8")->config, "block=64") << "simulated before imported";
  EXPECT_EQ(table.lookup("scale", "n=9")->config, "block=2") << "of equal rankings the first";
}

TEST(TuningTable, ReadsTablesOfTheFormerFormat) {
  const auto parsed = KernelTunings::parse(
      with_checksum("{\"format\":\"nereid tuning table 1\",\"kernel\":\"k\",\"device\":\"d\"}\n"
                    "{\"key\":\"n=1\",\"config\":\"c\",\"figure\":1,\"ranking\":\"simulated time\"}\n"),
      "t");
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(parsed->winner("n=1")->config, "c");
}

TEST(TuningTable, DecidesTiesByAFixedRule) {
  TuningRecord plain = record("k", "block=256", 1), two = record("k", "block=2", 0.99);
  TuningRecord large = record("k", "block=64", 0.985), lds = record("k", "block=8", 0.982),
               slow = record("k", "b", 1.01);
  plain.vgpr = two.vgpr = lds.vgpr = slow.vgpr = 8;
  large.vgpr = 16;
  two.launches = 2;
  lds.lds = 1024;
  const auto wins = [](std::vector<const TuningRecord *> records) {
    const TuningRecord *winner = winner_of(records);
    std::reverse(records.begin(), records.end());
    EXPECT_EQ(winner_of(records), winner) << "in any order";
    return winner->config;
  };
  EXPECT_EQ(wins({&plain, &two}), "block=256") << "fewer launches";
  EXPECT_EQ(wins({&plain, &large}), "block=256") << "fewer registers";
  EXPECT_EQ(wins({&plain, &lds}), "block=256") << "less LDS";
  EXPECT_EQ(wins({&plain, &slow}), "b") << "the first in natural order";
  EXPECT_EQ(wins({&slow, &lds}), "block=8") << "1.01 is more than 2 % above 0.982";
}

TEST(TuningTable, LooksUpWinners) {
  const TemporaryDirectory directory;
  const std::string tables = directory.path() + "/tables";
  EXPECT_EQ(TuningTable::load(tables, "d").value().size(), 0u) << "no directory, no table";
  ASSERT_TRUE(TableFile(tables, "scale", "d").update([](KernelTunings &tunings) -> Status {
    tunings.add(record("n=8", "block=64", 4));
    tunings.add(record("n=8", "block=128", 3));
    tunings.add(rejected("n=9", "block=128", "wrong"));
    return {};
  }));
  ASSERT_TRUE(TableFile(tables, "scale", "other").update([](KernelTunings &tunings) -> Status {
    tunings.add(record("n=10", "block=64", 4));
    return {};
  }));
  auto table = TuningTable::load(tables, "d");
  ASSERT_TRUE(table) << table.error().text();
  ASSERT_TRUE(table->lookup("scale", "n=8"));
  EXPECT_EQ(table->lookup("scale", "n=8")->config, "block=128");
  EXPECT_EQ(table->lookup("scale", "n=8")->figure, 3);
  EXPECT_EQ(table->lookup("scale", "n=9"), nullptr);
  EXPECT_EQ(table->lookup("scale", "n=10"), nullptr) << "of another device";
  EXPECT_EQ(table->lookup("scal", "n=8"), nullptr);
  EXPECT_EQ(table->keys("scale"), std::vector<std::string>{"n=8"});
  // What is added later fills only what is missing.
  KernelTunings shipped("scale", "model");
  shipped.add(record("n=8", "block=1", 1));
  shipped.add(record("n=10", "block=2", 1));
  table->add(shipped);
  EXPECT_EQ(table->lookup("scale", "n=8")->config, "block=128");
  EXPECT_EQ(table->lookup("scale", "n=10")->config, "block=2");
}

TEST(TuningTable, HasDistinctFilesForDistinctKernelsAndDevices) {
  std::set<std::string> paths;
  const std::string longer(300, 'a');
  const std::vector<std::string> names = {"a-b", "a_b", "a b", "a@b", "a",    "a@",         "a%20b",
                                          "a/b", "A",   "",    "..",  longer, longer + "b", "\xc3\xbc"};
  for (const std::string &kernel : names)
    for (const std::string &device : names) {
      const std::string path = table_path("d", kernel, device);
      EXPECT_TRUE(paths.insert(path).second) << path;
      EXPECT_LT(path.size(), 250u);
      EXPECT_EQ(path.find('/', 2), std::string::npos) << path;
    }
}

TEST(TuningTable, RefusesTheTableOfAnother) {
  const TemporaryDirectory directory;
  const TableFile one(directory.path(), "one", "d"), two(directory.path(), "two", "d");
  ASSERT_TRUE(one.update([](KernelTunings &tunings) -> Status {
    tunings.add(record("n=8", "block=64", 4));
    return {};
  }));
  std::filesystem::rename(one.path(), two.path());
  EXPECT_NE(two.read().error().message.find("is the tuning table of 'one'"), std::string::npos);
  KernelTunings tunings("two", "d");
  EXPECT_EQ(tunings.add(KernelTunings("one", "d")).error().owner, Owner::User);
}

TEST(TuningTable, DamageIsAnErrorThatNamesTheFileAndWhatToDo) {
  const TemporaryDirectory directory;
  const TableFile file(directory.path(), "scale", "d");
  ASSERT_TRUE(file.update([](KernelTunings &tunings) -> Status {
    tunings.add(record("n=8", "block=64", 4));
    tunings.add(record("n=9", "block=64", 4));
    return {};
  }));
  const std::string good = content(file.path());
  const auto expect_damaged = [&](const std::string &text) {
    write(file.path(), text);
    for (const Status &status : {Status(file.read() ? Status() : Status(file.read().error())),
                                 file.update([](KernelTunings &) { return Status(); }),
                                 TuningTable::load(directory.path(), "d")
                                     ? Status()
                                     : Status(TuningTable::load(directory.path(), "d").error())}) {
      ASSERT_FALSE(status) << text;
      EXPECT_EQ(status.error().owner, Owner::Environment);
      EXPECT_NE(status.error().message.find(file.path()), std::string::npos) << status.error().text();
      EXPECT_NE(status.error().remedy.find("delete it and tune again"), std::string::npos);
    }
    EXPECT_EQ(content(file.path()), text) << "what is damaged stays for its owner to look at";
  };
  for (size_t length = 0; length < good.size(); length += 7)
    expect_damaged(good.substr(0, length));
  for (size_t i = 0; i < good.size(); i += 5) {
    std::string flipped = good;
    flipped[i] ^= 4;
    expect_damaged(flipped);
  }
  expect_damaged(good + "{}\n");
  expect_damaged("no table\n");
}

TEST(TuningTable, ALineThatIsNoRecordIsDamageEvenUnderItsChecksum) {
  for (const char *line :
       {R"({"key":"n=1"})", R"({"config":"c","figure":1})", R"({"key":"n=1","config":"c"})",
        R"({"key":"n=1","config":"c","figure":-1})",
        R"({"key":"n=1","config":"c","figure":1,"rejected":"x"})",
        R"({"key":"n=1","config":"c","figure":"1"})", R"({"key":1,"config":"c","figure":1})",
        R"({"key":"n=1","config":"c","figure":1,"more":1})",
        R"({"key":"n=1","config":"c","figure":1,"vgpr":-1})", "[]", ""}) {
    const std::string text = R"({"format":"nereid tuning table 1","kernel":"k","device":"d"})"
                             "\n" +
                             std::string(line) + "\n";
    const auto parsed = KernelTunings::parse(with_checksum(text), "t");
    ASSERT_FALSE(parsed) << line;
    EXPECT_NE(parsed.error().message.find("line 2"), std::string::npos) << parsed.error().text();
  }
  const auto nested = KernelTunings::parse(with_checksum(std::string(2'000'000, '[') + "\n"), "t");
  ASSERT_FALSE(nested);
  EXPECT_NE(nested.error().message.find("line 1 is no JSON object"), std::string::npos);
  const auto other = KernelTunings::parse(with_checksum("{\"format\":\"nereid tuning table 3\"}\n"), "t");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("its format is 'nereid tuning table 3'"), std::string::npos);
}

TEST(TuningTable, WritersTakeTurns) {
  const TemporaryDirectory directory;
  const TableFile file(directory.path(), "scale", "d");
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 8; ++writer)
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 10; ++i)
        EXPECT_TRUE(file.update([&](KernelTunings &tunings) -> Status {
          tunings.add(record(tuning_key({{"writer", writer}, {"i", i}}), "block=64", 1));
          return {};
        }));
    });
  for (std::thread &writer : writers)
    writer.join();
  EXPECT_EQ(file.read().value().keys().size(), 80u);
}

TEST(TuningTable, AHeldLockIsNamed) {
  const TemporaryDirectory directory;
  const TableFile file(directory.path(), "scale", "d");
  std::atomic<bool> held = false;
  std::thread holder([&] {
    EXPECT_TRUE(file.update([&](KernelTunings &) {
      held = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2500));
      return Status();
    }));
  });
  while (!held)
    std::this_thread::yield();
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(file.update([](KernelTunings &) { return Status(); }));
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("waiting for " + file.path() + ".lock"),
            std::string::npos);
  holder.join();
}

TEST(TuningTable, CannotBeWrittenWhereThereIsNoPlace) {
  const TableFile file("/proc/no/place", "k", "d");
  const Status status = file.update([](KernelTunings &) { return Status(); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().owner, Owner::Environment);
}

TEST(TuningKey, NamesChosenArgumentsAndTellsListsApart) {
  EXPECT_EQ(tuning_key({{"M", 16}, {"dtype", "bf16"}}), "M=16,dtype=bf16");
  EXPECT_NE(tuning_key({{"a", "1,b=2"}}), tuning_key({{"a", 1}, {"b", 2}}));
  EXPECT_EQ(tuning_key({{"a", "1,b=2 %\xff"}}), "a=1%2Cb%3D2%20%25%FF");
  EXPECT_EQ(tuning_key({}), "");
}

TEST(TuningKey, OrdersNumbersAsNumbers) {
  EXPECT_TRUE(natural_less("M=8,N=16", "M=16,N=8"));
  EXPECT_FALSE(natural_less("M=16,N=8", "M=8,N=16"));
  EXPECT_TRUE(natural_less("M=8", "M=8,N=1"));
  EXPECT_FALSE(natural_less("M=8", "M=8"));
  EXPECT_TRUE(natural_less("M=08", "M=8"));
  EXPECT_FALSE(natural_less("M=8", "M=08"));
  EXPECT_TRUE(natural_less("M=99999999999999999999998", "M=99999999999999999999999"));
}

} // namespace
} // namespace nereid::test
