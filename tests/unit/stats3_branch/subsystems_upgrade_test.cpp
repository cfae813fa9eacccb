// Templates of one name and several hashes, as before and after an upgrade of a feeder: for which
// of them rates hold, which are listed, and which make room.
#include "core/stats3/blob/templates.h"
#include "tests/unit/stats3_branch/subsystems_fixture.h"

namespace tallyfs::stats3 {
namespace {

constexpr pid_t kOld = 21, kNew = 22, kThird = 23;

// A template with one VOI, and a blob of it.
struct Version {
  Version(std::string its_name, std::string its_voi)
      : name(std::move(its_name)), voi(std::move(its_voi)), bytes(Blob("BASE", 0).fresh) {
    std::memset(bytes.data() + 8, 0, sizeof hash);
    std::memset(bytes.data() + 16, 0, 16);  // its times
    hash = blob::hash_template(name, {voi}, bytes);
    std::memcpy(bytes.data() + 8, &hash, sizeof hash);
  }
  std::string spec() const { return '"' + name + "\":" + std::to_string(hash); }

  std::string name, voi, bytes;
  std::uint32_t hash = 0;
};

class SubsystemsUpgradeTest : public SubsystemsTest {
 protected:
  Result<Done> tell(const Version& given, const Sender& sender) {
    return subsystems_.add_template(
        {.sequence = 1, .name = given.name, .blob = given.bytes, .voi_names = {given.voi}}, sender,
        clock_.now());
  }
  // As libtally does: templates first, then the subsystem with rates by hashes.
  std::uint64_t start(pid_t process, const Version& its) {
    EXPECT_TRUE(tell(its, {kAlice, process}));
    const auto made =
        execute("subsystem web :" + std::to_string(its.hash) + "=100", {kAlice, process});
    EXPECT_TRUE(made);
    return made.value().number;
  }
  std::string rates_for(pid_t process) {
    return execute("rates web", {kAlice, process}).value().text.value_or("(its own)");
  }
  static std::string by_hash(const Version& its, int percent) {
    return ":" + std::to_string(its.hash) + "=" + std::to_string(percent);
  }

  const Version v1_{"WEB", "x"}, v2_{"WEB", "y"};
};

TEST_F(SubsystemsUpgradeTest, ARateForANameHoldsForTheNextFeedersTemplate) {
  start(kOld, v1_);
  ASSERT_EQ(write("web", "WEB=10"), kTaken);
  EXPECT_EQ(read("web", "sample_rates"), v1_.spec() + "=10\n");
  end(kOld);
  start(kNew, v2_);
  EXPECT_EQ(rates_for(kNew), by_hash(v2_, 10));
  EXPECT_EQ(read("web", "sample_rates"), v2_.spec() + "=10\n");
  EXPECT_EQ(said(), "");
}

TEST_F(SubsystemsUpgradeTest, ARateForANameHoldsForBothWhileBothRun) {
  start(kOld, v1_);
  ASSERT_EQ(write("web", "WEB=60"), kTaken);
  const auto version = file("web", "sample_rates")->version(clock_.now());
  start(kNew, v2_);
  EXPECT_EQ(rates_for(kOld), by_hash(v1_, 60));
  EXPECT_EQ(rates_for(kNew), by_hash(v2_, 60));
  EXPECT_EQ(read("web", "sample_rates"), "\"WEB\"=60\n") << "every template of that name";
  EXPECT_GT(file("web", "sample_rates")->version(clock_.now()), version) << "it is read anew";
  ASSERT_EQ(write("web", "\"WEB\"=60"), kTaken) << "what is shown can be written";
  end(kOld);
  EXPECT_EQ(read("web", "sample_rates"), v2_.spec() + "=60\n");
}

TEST_F(SubsystemsUpgradeTest, ARateWithAHashHoldsForThatOneAlone) {
  start(kOld, v1_);
  ASSERT_EQ(write("web", "WEB:" + std::to_string(v1_.hash) + "=10"), kTaken);
  start(kNew, v2_);
  EXPECT_EQ(rates_for(kOld), by_hash(v1_, 10));
  EXPECT_EQ(rates_for(kNew), "") << "nothing of it is to be sampled";
  EXPECT_EQ(said(), "") << "it holds for one that runs";
  end(kOld);
  EXPECT_NE(said().find("stats/web: warning: no running feeder has this template\n  Command: " +
                        v1_.spec() + "=10\n"),
            std::string::npos)
      << said();
  const std::string before = said();
  rates_for(kNew);
  EXPECT_EQ(said(), before) << "once";
  EXPECT_EQ(read("web", "sample_rates"), v1_.spec() + "=10\n");
}

TEST_F(SubsystemsUpgradeTest, ARateForANameThatNoFeederHasIsToldOf) {
  start(kOld, v1_);
  ASSERT_EQ(write("web", "WEB=10"), kTaken);
  end(kOld);
  start(kNew, {"OTHER", "x"});
  EXPECT_EQ(rates_for(kNew), "");
  EXPECT_NE(said().find("Command: \"WEB\"=10\n"), std::string::npos) << said();
}

TEST_F(SubsystemsUpgradeTest, ATemplateThatARunningFeederChangesIsAChangeOfItsRates) {
  const auto number = start(kOld, v1_);
  ASSERT_EQ(write("web", "WEB=10"), kTaken);
  const auto before = switch_of(number);
  ASSERT_TRUE(tell(v2_, {kAlice, kOld}));
  EXPECT_GT(switch_of(number), before);
  EXPECT_EQ(rates_for(kOld), by_hash(v2_, 10)) << "a process has one of each name";
  const auto after = switch_of(number);
  ASSERT_TRUE(tell(v2_, {kAlice, kOld}));
  EXPECT_EQ(switch_of(number), after) << "that was known";
}

TEST_F(SubsystemsUpgradeTest, FeedersWithDifferentTemplatesKeepTheirOwnRates) {
  const Version other{"OTHER", "x"};
  start(kOld, v1_);
  start(kNew, other);
  EXPECT_EQ(rates_for(kOld), "(its own)");
  EXPECT_EQ(rates_for(kNew), by_hash(other, 100));
  ASSERT_EQ(write("web", "OTHER=5"), kTaken);
  EXPECT_EQ(rates_for(kOld), "") << "a user says so";
}

TEST_F(SubsystemsUpgradeTest, ARefusalOfRatesIsReadInTheErrorLog) {
  start(kOld, v1_);
  ASSERT_EQ(write("web", "WEB=10"), kTaken);
  ASSERT_TRUE(execute("refused web 22", {kAlice, kOld}));
  EXPECT_NE(said().find("stats/web: error: process 21 does not take these rates: Invalid argument"
                        "\n  Command: " +
                        v1_.spec() + "=10\n"),
            std::string::npos)
      << said();
  EXPECT_EQ(execute("refused web 22", kBob).error().code, ErrorCode::kNotPermitted);
  for (const char* line : {"refused web", "refused web x", "refused web 0", "refused web 4096"}) {
    EXPECT_EQ(execute(line).error().code, ErrorCode::kInvalid) << line;
  }
}

TEST_F(SubsystemsUpgradeTest, ListsTemplatesInUseAndThoseThatStandForTheirName) {
  const std::string v1 = v1_.spec(), v2 = v2_.spec();
  start(kOld, v1_);
  start(kNew, v2_);
  EXPECT_EQ(read("", "templates"), v1 + "," + v2 + "\n");
  const auto object = execute("object web/total", {kAlice, kOld}).value().number;
  ASSERT_TRUE(publish(object, v1_.bytes));
  end(kOld);
  EXPECT_EQ(read("", "templates"), v1 + "," + v2 + "\n") << "an object's blob is of it";
  ASSERT_TRUE(execute("withdraw web/total", {kAlice, kNew}));
  EXPECT_EQ(read("", "templates"), v2 + "\n");
  end(kNew);
  EXPECT_EQ(read("", "templates"), v2 + "\n") << "the last of its name";
}

TEST_F(SubsystemsUpgradeTest, UnusedTemplatesMakeRoom) {
  start(kOld, v1_);
  const auto object = execute("object web/total", {kAlice, kOld}).value().number;
  ASSERT_TRUE(publish(object, v1_.bytes));
  end(kOld);
  for (std::size_t i = 1; i < FeederTemplates::kPerUidMax; ++i) {
    ASSERT_TRUE(tell({"T" + std::to_string(i), "x"}, {kAlice, kThird})) << i;
  }
  const auto refused = tell(v2_, {kAlice, kNew});
  ASSERT_FALSE(refused) << "all are in use";
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(refused.error().reason,
            "template " + v2_.spec() + ": uid 1000 has 1024 in use, which is all it may");
  end(kThird);
  ASSERT_TRUE(tell(v2_, {kAlice, kNew}));
  const std::string listed = read("", "templates");
  EXPECT_EQ(listed.find("\"T1\""), listed.npos) << "the oldest of those not in use";
  EXPECT_NE(listed.find("\"T2\""), listed.npos);
  EXPECT_NE(listed.find(v1_.spec()), listed.npos) << "an object's blob is of it";
}

TEST_F(SubsystemsUpgradeTest, WhatTemplatesTakeIsGivenBack) {
  const auto before = ledger_.total().bytes;
  for (int round = 0; round < 5000; ++round) {
    ASSERT_TRUE(tell({"R" + std::to_string(round), "x"}, {kAlice, kOld + round})) << round;
    end(kOld + round);
  }
  EXPECT_LE(ledger_.total().bytes - before, FeederTemplates::kPerUidMax * 512);
}

}  // namespace
}  // namespace tallyfs::stats3
