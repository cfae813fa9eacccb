// The stats/ branch: templates, subsystems, objects, rates, and permissions.
#include "tests/unit/stats3_branch/subsystems_fixture.h"

namespace tallyfs::stats3 {
namespace {

TEST_F(SubsystemsTest, ShowsTheLastBlobAsTextAndAsJsonWithNames) {
  const Blob blob("T1", 7), later("T1", 9);
  ASSERT_TRUE(execute("subsystem web"));
  const auto made = execute("object web/total");
  EXPECT_EQ(read("web", "total"), "") << "nothing was published yet";
  ASSERT_TRUE(tell("T1", blob.fresh));
  ASSERT_TRUE(publish(made.value().number, blob.bytes));
  const std::string hash = std::to_string(blob.hash);
  EXPECT_EQ(read("web", "total.json"), R"({"tplname":"T1","tplhash":)" + hash +
                                           R"(,"vois":{"x":{"stats":{"SUM":{"errs":0,"val":7}}}}})"
                                           "\n");
  ASSERT_TRUE(publish(made.value().number, later.bytes));
  const std::string text = read("web", "total");
  EXPECT_NE(text.find(", tplhash=" + hash + "\n\tvois[0]: id=0, name=\"x\"\n"), text.npos) << text;
  EXPECT_NE(text.find("voistatdata: 9\n"), text.npos) << text;
  EXPECT_EQ(execute("object web/total").value().made, wire::Made::kWasThere);
}

TEST_F(SubsystemsTest, ListsTemplatesAsTheMibVariableDoes) {
  EXPECT_EQ(read("", "templates"), "\n");
  const Blob a("TA", 0), b("TB", 0);
  ASSERT_TRUE(tell("TA", a.fresh));
  ASSERT_TRUE(tell("TB", b.fresh));
  ASSERT_TRUE(tell("TA", a.fresh)) << "again";
  ASSERT_TRUE(tell("TA", a.fresh, kBob)) << "another's, listed once";
  EXPECT_EQ(read("", "templates"),
            "\"TA\":" + std::to_string(a.hash) + ",\"TB\":" + std::to_string(b.hash) + "\n");
}

TEST_F(SubsystemsTest, RefusesTemplatesThatAreNotWhatTheySay) {
  const Blob blob("TC", 0);
  std::string damaged = blob.fresh;
  damaged[8] = static_cast<char>(damaged[8] + 1);
  EXPECT_EQ(tell("TC", damaged).error().reason,
            "the template's hash is " + std::to_string(blob.hash));
  EXPECT_EQ(tell("TX", blob.fresh).error().code, ErrorCode::kInvalid) << "another name's hash";
  EXPECT_EQ(tell("T\"C", blob.fresh).error().reason,
            "not a template's name (at most 64 printable bytes, no '\"'): T\"C");
  EXPECT_EQ(tell("T\nC", blob.fresh).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(tell("TC", blob.fresh.substr(0, 31)).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(read("", "templates"), "\n");
}

TEST_F(SubsystemsTest, SwitchesAnObjectOnWhileThereIsDemand) {
  const Blob blob("TD", 1);
  ASSERT_TRUE(execute("subsystem web"));
  const auto number = execute("object web/total").value().number;
  EXPECT_EQ(switch_of(number), 0u);
  ASSERT_TRUE(publish(number, blob.bytes));
  EXPECT_EQ(switch_of(number), 0u) << "no demand yet";
  read("web", "total.json");
  EXPECT_EQ(switch_of(number), 1u);
  clock_.advance(StatsObject::kAskedFor);
  ASSERT_TRUE(publish(number, blob.bytes));
  EXPECT_EQ(switch_of(number), 1u);
  clock_.advance(std::chrono::seconds(1));
  ASSERT_TRUE(publish(number, blob.bytes));
  EXPECT_EQ(switch_of(number), 0u) << "no demand any more";
}

TEST_F(SubsystemsTest, TakesRatesWithTheErrorsOfTheGoldenFile) {
  const Blob a("RA", 0), b("RB", 0);
  ASSERT_TRUE(tell("RA", a.fresh));
  ASSERT_TRUE(tell("RB", b.fresh));
  const auto number = execute("subsystem web RA=10").value().number;
  const std::string spec = "\"RA\":" + std::to_string(a.hash);
  EXPECT_EQ(read("web", "sample_rates"), spec + "=10\n");
  EXPECT_EQ(switch_of(number), 0u) << "what it began with is no change";
  EXPECT_EQ(write("web", "RA=50, RB=50"), kTaken);
  EXPECT_EQ(switch_of(number), 1u);
  EXPECT_EQ(write("web", "RA=50,RB=51"), ErrorCode::kInvalid);
  EXPECT_EQ(write("web", "NOPE=1"), ErrorCode::kNoTemplate);
  EXPECT_EQ(write("web", "RA=5,RB=-1"), ErrorCode::kInvalid);
  EXPECT_EQ(switch_of(number), 1u) << "nothing has changed";
  const auto told = execute("rates web").value();
  EXPECT_EQ(told.number, 1u);
  EXPECT_EQ(told.text, ":" + std::to_string(a.hash) + "=50,:" + std::to_string(b.hash) + "=50");
  EXPECT_EQ(write("web", ""), kTaken);
  EXPECT_EQ(read("web", "sample_rates"), "\n");
  EXPECT_EQ(execute("subsystem db NOPE=1").error().code, ErrorCode::kNoTemplate);
  EXPECT_EQ(read("db", "sample_rates"), "(none)");
}

TEST_F(SubsystemsTest, NamesNoTemplateOfAnotherUid) {
  const Blob mine("RC", 0);
  ASSERT_TRUE(tell("RC", mine.fresh, kBob));
  ASSERT_TRUE(execute("subsystem web"));
  EXPECT_EQ(write("web", "RC=1"), ErrorCode::kNoTemplate);
}

TEST_F(SubsystemsTest, LetsObjectsGoByCommandRmAndRmdir) {
  const Blob blob("TE", 1);
  ASSERT_TRUE(execute("subsystem web"));
  const auto a = execute("object web/a").value().number, b = execute("object web/b").value().number;
  const auto c = execute("object web/c").value().number;
  ASSERT_TRUE(execute("withdraw web/a"));
  EXPECT_TRUE(is_void(a));
  EXPECT_EQ(read("web", "a.json"), "(none)");
  ASSERT_TRUE(subsystems_.remove_file("web", "b.json", clock_.now()));
  EXPECT_EQ(read("web", "b"), "(none)");
  EXPECT_EQ(publish(b, blob.bytes).error().code, ErrorCode::kStale);
  EXPECT_EQ(subsystems_.remove_file("web", "sample_rates", clock_.now()).error().code,
            ErrorCode::kNotPermitted);
  auto open = file("web", "c");
  ASSERT_TRUE(subsystems_.remove_subsystem("web", clock_.now()));
  EXPECT_TRUE(is_void(c));
  open->opened(clock_.now());
  EXPECT_EQ(open->render(clock_.now(), 100).value(), "") << "an open outlives it";
  open.reset();
  EXPECT_EQ(ledger_.total().interfaces + ledger_.total().statistics, 0u);
  EXPECT_EQ(publish(c, blob.bytes).error().code, ErrorCode::kStale);
}

TEST_F(SubsystemsTest, LetsNoOtherUidPublishInIt) {
  const Blob blob("TF", 1);
  ASSERT_TRUE(execute("subsystem web"));
  const auto number = execute("object web/a").value().number;
  EXPECT_EQ(execute("object web/b", kBob).error().code, ErrorCode::kNotPermitted);
  EXPECT_EQ(execute("withdraw web", kBob).error().code, ErrorCode::kNotPermitted);
  EXPECT_EQ(publish(number, blob.bytes, kBob).error().code, ErrorCode::kNotPermitted);
  EXPECT_TRUE(publish(number, blob.bytes, 0));
  EXPECT_TRUE(publish(number, blob.bytes, kDaemon));
}

TEST_F(SubsystemsTest, RefusesNamesThatAreNoneOrOthers) {
  ASSERT_TRUE(execute("subsystem web"));
  for (const char* line :
       {"subsystem templates", "subsystem a=b", "object web/sample_rates", "object web/x.json",
        "object web/", "object web/a/b", "object web/a b"}) {
    EXPECT_EQ(execute(line).error().code, ErrorCode::kInvalid) << line;
  }
  EXPECT_EQ(execute("object db/a").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(execute("rates db").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(execute("withdraw web/a").error().code, ErrorCode::kNotFound);
}

TEST_F(SubsystemsTest, RefusesBlobsThatAreNotSound) {
  const Blob blob("TG", 1);
  ASSERT_TRUE(execute("subsystem web"));
  const auto number = execute("object web/a").value().number;
  std::string big = blob.bytes;
  big[1] = 2;
  EXPECT_EQ(publish(number, big).error().reason,
            "the blob: it is big-endian, which is not converted");
  for (std::size_t size = 0; size < blob.bytes.size(); ++size) {
    EXPECT_FALSE(publish(number, blob.bytes.substr(0, size))) << size;
  }
  EXPECT_TRUE(publish(number, blob.bytes + std::string(7, '\0')));
  EXPECT_FALSE(publish(number, blob.bytes + std::string(8, '\0')));
  EXPECT_FALSE(publish(number - 1, blob.bytes)) << "the subsystem's number";
}

TEST_F(SubsystemsTest, CountsInTheLedgerAsInterfacesAndStatisticsDo) {
  ASSERT_TRUE(execute("subsystem a"));
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(execute("object a/" + std::to_string(i)));
  EXPECT_EQ(execute("object a/9").error().code, ErrorCode::kNoSpace);
  for (const char* line : {"subsystem b", "subsystem c", "subsystem d"}) ASSERT_TRUE(execute(line));
  EXPECT_EQ(execute("subsystem e").error().code, ErrorCode::kNoSpace);
  EXPECT_TRUE(execute("subsystem e", kBob));
}

// ---- several processes

constexpr pid_t kOne = 11, kTwo = 12, kScript = 13;

TEST_F(SubsystemsTest, AnObjectIsOfOneProcessAsLongAsThatRuns) {
  ASSERT_TRUE(execute("subsystem web", {kAlice, kOne}));
  const auto made = execute("object web/total", {kAlice, kOne});
  EXPECT_EQ(execute("object web/total", {kAlice, kOne}).value().number, made.value().number);
  ASSERT_TRUE(execute("subsystem web", {kAlice, kTwo}));
  const auto refused = execute("object web/total", {kAlice, kTwo});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_EQ(refused.error().reason, "process 11 publishes it");
  // The end of the second takes nothing out that is the first's.
  EXPECT_FALSE(execute("withdraw web/total", {kAlice, kTwo}));
  ASSERT_TRUE(execute("withdraw web", {kAlice, kTwo}));
  EXPECT_NE(file("web", "total"), nullptr);
  end(kTwo);
  EXPECT_NE(file("web", "total"), nullptr);
  end(kOne);
  EXPECT_NE(file("web", "total"), nullptr) << "it stays to be looked at";
  EXPECT_TRUE(execute("object web/total", {kAlice, kTwo})) << "no process owns it by now";
}

TEST_F(SubsystemsTest, AProcessThatHasEndedUnheardHoldsNothing) {
  ASSERT_TRUE(execute("subsystem web", {kAlice, kOne}));
  ASSERT_TRUE(execute("object web/total lifetime=feeder", {kAlice, kOne}));
  processes_.watched.erase(kOne);
  ASSERT_TRUE(execute("object web/total lifetime=feeder", {kAlice, kTwo}));
  subsystems_.process_ended(kOne, clock_.now());
  EXPECT_NE(file("web", "total"), nullptr) << "it is the second's";
}

TEST_F(SubsystemsTest, AProcessWaitsForTheEndOfOneWithItsNumber) {
  ASSERT_TRUE(execute("subsystem web", {kAlice, kOne}));
  processes_.refusal = Error{ErrorCode::kBusy, "the last one has not ended"};
  EXPECT_EQ(execute("subsystem web", {kAlice, kTwo}).error().code, ErrorCode::kBusy);
  EXPECT_EQ(execute("object web/total", {kAlice, kTwo}).error().code, ErrorCode::kBusy);
  processes_.refusal.reset();
  EXPECT_TRUE(execute("object web/total lifetime=feeder", {kAlice, kTwo}));
}

TEST_F(SubsystemsTest, ObjectsGoWithTheirFeederIfItSaysSo) {
  ASSERT_TRUE(execute("subsystem tcp", {kAlice, kOne}));
  ASSERT_TRUE(execute("object tcp/a lifetime=feeder", {kAlice, kOne}));
  ASSERT_TRUE(execute("object tcp/total", {kAlice, kOne}));
  end(kOne);
  EXPECT_EQ(file("tcp", "a"), nullptr);
  EXPECT_EQ(file("tcp", "a.json"), nullptr);
  EXPECT_NE(file("tcp", "total"), nullptr);
  const auto wrong = execute("object tcp/b lifetime=ever", {kAlice, kOne});
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(wrong.error().token_at, 13u);
  processes_.refusal = Error{ErrorCode::kNoSpace, "too many"};
  EXPECT_EQ(execute("object tcp/b lifetime=feeder", {kAlice, kTwo}).error().code,
            ErrorCode::kNoSpace);
  EXPECT_TRUE(execute("object tcp/b", {kAlice, kTwo}));
}

TEST_F(SubsystemsTest, FeedersAreInTheLedgerAndRefusedWhenItIsFull) {
  ASSERT_TRUE(execute("subsystem tcp", {kAlice, kScript}));
  const auto before = ledger_.total().bytes;
  ASSERT_TRUE(execute("subsystem tcp", {kAlice, kOne}));
  EXPECT_EQ(ledger_.total().bytes, before + LifetimeFeeders::kFeederBytes);
  ASSERT_TRUE(execute("subsystem tcp", {kAlice, kOne}));
  EXPECT_EQ(ledger_.total().bytes, before + LifetimeFeeders::kFeederBytes);
  // Room for an object, but for no feeder of it.
  ASSERT_TRUE(execute("object tcp/a", {kAlice, kOne}));
  const auto object = ledger_.total().bytes - before - LifetimeFeeders::kFeederBytes;
  const std::uint64_t left = (1 << 20) - ledger_.total().bytes - object;
  ASSERT_TRUE(ledger_.reserve(kAlice, {.bytes = left}));
  EXPECT_EQ(execute("object tcp/b lifetime=feeder", {kAlice, kTwo}).error().code,
            ErrorCode::kNoSpace);
  EXPECT_EQ(file("tcp", "b"), nullptr);
  EXPECT_TRUE(execute("object tcp/b lifetime=feeder", {kAlice, kOne}));
}

TEST_F(SubsystemsTest, AScriptWithdrawsWhateverItNames) {
  ASSERT_TRUE(execute("subsystem web", {kAlice, kOne}));
  ASSERT_TRUE(execute("object web/a", {kAlice, kOne}));
  ASSERT_TRUE(execute("object web/b", {kAlice, kOne}));
  ASSERT_TRUE(execute("withdraw web/a", {kAlice, kScript}));
  EXPECT_EQ(file("web", "a"), nullptr);
  ASSERT_TRUE(execute("withdraw web", {kAlice, kScript}));
  EXPECT_EQ(file("web", "b"), nullptr);
}

TEST_F(SubsystemsTest, ANameInRatesIsTheTemplateOfTheSubsystemsOwnFeeder) {
  // Two programs of one uid with templates of one name.
  const Blob one("TR", 0);
  const int id = stats_tpl_fetch_allocid("TR", 0);
  voistatspec spec{};
  spec.hlpr = stats_vss_numeric_hlpr;
  spec.stype = VS_STYPE_SUM;
  ASSERT_TRUE(tell("TR", one.fresh, {kAlice, kOne}));
  ASSERT_TRUE(execute("subsystem web TR=5", {kAlice, kOne}));
  ASSERT_EQ(stats_tpl_add_voistats(static_cast<std::uint32_t>(id), 1, "y", VSD_DTYPE_INT_U32, 1,
                                   &spec, 0),
            0);
  const Blob other("TR", 0);
  ASSERT_NE(one.hash, other.hash);
  ASSERT_TRUE(subsystems_.add_template(
      {.sequence = 1, .name = "TR", .blob = other.fresh, .voi_names = {"x", "y"}}, {kAlice, kTwo},
      clock_.now()));
  ASSERT_TRUE(execute("subsystem db TR=6", {kAlice, kTwo}));
  EXPECT_EQ(write("web", "TR=7"), kTaken);
  EXPECT_EQ(read("web", "sample_rates"), "\"TR\":" + std::to_string(one.hash) + "=7\n");
  EXPECT_EQ(read("db", "sample_rates"), "\"TR\":" + std::to_string(other.hash) + "=6\n");
  const std::string mark = "\"TR\":";
  EXPECT_EQ(read("", "templates"),
            mark + std::to_string(one.hash) + "," + mark + std::to_string(other.hash) + "\n")
      << "both run";
}

TEST_F(SubsystemsTest, AFeedersRatesTakeThePlaceOfItsEarlierOnesButNotOfAUsers) {
  const Blob blob("TS", 0);
  const std::string spec = "\"TS\":" + std::to_string(blob.hash);
  ASSERT_TRUE(tell("TS", blob.fresh, {kAlice, kOne}));
  const auto made = execute("subsystem web TS=5", {kAlice, kOne});
  ASSERT_TRUE(execute("subsystem web TS=20", {kAlice, kTwo}));
  EXPECT_EQ(read("web", "sample_rates"), spec + "=20\n");
  EXPECT_EQ(switch_of(made.value().number), 1u) << "the first hears of it";
  ASSERT_TRUE(execute("subsystem web TS=20", {kAlice, kTwo}));
  ASSERT_TRUE(execute("subsystem web", {kAlice, kTwo}));
  EXPECT_EQ(switch_of(made.value().number), 1u);
  EXPECT_EQ(write("web", "TS=30"), kTaken);
  ASSERT_TRUE(execute("subsystem web TS=40", {kAlice, kOne}));
  EXPECT_EQ(read("web", "sample_rates"), spec + "=30\n");
  ASSERT_TRUE(execute("subsystem web TS=50", {kBob, kTwo})) << "told that it is there";
  EXPECT_EQ(read("web", "sample_rates"), spec + "=30\n");
}

TEST_F(SubsystemsTest, RatesAreShownToUidsThatMayReadTheirFile) {
  ASSERT_TRUE(execute("subsystem web"));
  EXPECT_TRUE(execute("rates web"));
  EXPECT_TRUE(execute("rates web", 0));
  EXPECT_EQ(execute("rates web", kBob).error().code, ErrorCode::kNotPermitted);
}

TEST_F(SubsystemsTest, RatesOfAnyLengthAreRefusedAtOnce) {
  const Blob blob("TL", 0);
  ASSERT_TRUE(tell("TL", blob.fresh));
  std::string many;
  for (int i = 0; i < 1001; ++i) many += "TL=0,";
  EXPECT_EQ(execute("subsystem web " + many).error().reason, "too many rates");
  many.resize(5 * 1000);
  EXPECT_TRUE(execute("subsystem web " + many));
  EXPECT_EQ(execute("subsystem db " + std::string(96'001, ' ') + "x").error().code,
            ErrorCode::kInvalid);
}

}  // namespace
}  // namespace tallyfs::stats3
