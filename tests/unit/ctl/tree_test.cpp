// What tools/tree reads: JSON as it stands, and recordings.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <thread>

#include "tools/display/quantity.h"
#include "tools/tree/json.h"
#include "tools/tree/source.h"
#include "tools/tree/statistics_json.h"
#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

std::string again(const std::string& text) {
  const auto json = parse_json(text);
  if (!json) return "refused";
  std::string made;
  JsonWriter writer(made);
  write_json(writer, json.value());
  return made;
}

TEST(JsonReadingTest, NumbersOfAnyLengthComeBackDigitByDigit) {
  for (const char* number : {"-9223372036854775808", "18446744073709551615",
                             "170141183460469231731687303715884105727", "1290.125", "0", "-1"}) {
    EXPECT_EQ(again(number), number);
  }
}

TEST(TimedFileTest, AFileWithoutAnEndIsRefusedBeforeItFillsTheMemory) {
  const auto text = read_in_time("/dev/zero", std::chrono::minutes(5));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kTooManyFiles);
  // The share of the one that failed is free again.
  EXPECT_TRUE(read_in_time("/proc/self/stat", std::chrono::minutes(5)));
}

// The thread that reads is the one of which that file tells.
std::string reader() { return read_in_time("/proc/thread-self/stat").value().substr(0, 8); }

TEST(TimedFileTest, OneHelperReadsUntilItIsLeftInTheKernel) {
  const std::string first = reader();
  EXPECT_EQ(reader(), first);
  const std::string path = testing::TempDir() + "timed_file_test.fifo";
  std::remove(path.c_str());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read_in_time(path, std::chrono::milliseconds(0)).error().code, ErrorCode::kTimedOut);
  EXPECT_TRUE(left_a_thread_behind());
  EXPECT_NE(reader(), first);
  // A writer lets it go.
  std::ofstream(path).close();
  while (left_a_thread_behind()) std::this_thread::yield();
  std::remove(path.c_str());
}

TEST(TimedFileTest, FailuresKeepTheirKind) {
  EXPECT_EQ(read_in_time("/nowhere/at/all").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read_in_time("/proc/self").error().code, ErrorCode::kInvalid);
}

TEST(JsonReadingTest, TextsAndNestingComeBack) {
  const std::string text = R"({"a":[1,null,true,{"b":"\"\\x"}],"延迟":"e\u0001"})";
  EXPECT_EQ(again(text), text);
}

TEST(JsonReadingTest, WhatIsNoJsonIsRefused) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1} x", "nul", "\"a"}) {
    EXPECT_EQ(again(text), "refused") << text;
  }
  EXPECT_EQ(again(std::string(100, '[') + std::string(100, ']')), "refused");
}

view::Statistic read_one(const std::string& values, const std::string& type) {
  const auto json =
      parse_json(R"({"interface":"web","format":1,"epoch":"e","serial":1,"time_us":2,)"
                 R"("realtime_us":3,"statistics":[{"name":"x","on":1,"type":")" +
                 type + R"(","range_min":0,"hits_out_of_range":4,"data_us":5,)" +
                 R"("units":"a/b","samples":6,"values":)" + values + "}]}");
  const auto read = to_interface(json.value());
  EXPECT_TRUE(read) << (read ? "" : read.error().reason);
  return read ? read.value().statistics[0] : view::Statistic{};
}

TEST(StatisticsJsonTest, TotalsBeyond64BitsAreExact) {
  const auto read = read_one(R"({"total":-170141183460469231731687303715884105727})", "value");
  EXPECT_EQ(view::exact_text(std::get<view::Value>(read.values).total),
            "-170141183460469231731687303715884105727");
  EXPECT_EQ(read.samples, 6u);
  EXPECT_EQ(read.hits_out_of_range, 4u);
  EXPECT_EQ(read.data_us, 5u);
}

TEST(StatisticsJsonTest, TheLastBoundMayBeBeyond63Bits) {
  const auto read = read_one(R"({"bounds":[-5,9223372036854775808],"counts":[1,2,0]})", "array");
  const auto& array = std::get<view::Array>(read.values);
  EXPECT_EQ(view::exact_text(array.bounds[1]), "9223372036854775808");
}

TEST(StatisticsJsonTest, DefinitionsHaveOnlyWhatCanBeWritten) {
  const auto read = read_one(R"({"total":1})", "value");
  std::string keys;
  for (const auto& key : read.definition) keys += key.name + "=" + key.value + " ";
  EXPECT_EQ(keys, "name=x on=1 type=value range_min=0 units=a/b ");
}

TEST(StatisticsJsonTest, AnEmptyRangeHasNoEnds) {
  const auto read = read_one(R"({"number":0,"min":null,"avg":null,"max":null,"sum":0})", "range");
  EXPECT_FALSE(std::get<view::Range>(read.values).min);
  EXPECT_FALSE(std::get<view::Range>(read.values).avg);
}

std::string fault_of(const std::string& text) {
  const auto read = to_interface(parse_json(text).value());
  return read ? "" : read.error().reason;
}

TEST(StatisticsJsonTest, ANewerFormatIsRefusedByItsNumber) {
  EXPECT_EQ(fault_of(R"({"interface":"a","format":2,"statistics":[]})"),
            "format 2, and this program knows formats up to 1");
  EXPECT_EQ(fault_of("[]"), "no \"format\" in it");
}

std::optional<std::uint64_t> queue_length_of(const std::string& member) {
  const auto json = parse_json(R"({"format":1,"interfaces":[])" + member + "}");
  const auto read = to_tree(json.value());
  EXPECT_TRUE(read);
  return read ? read.value().queue_length : std::nullopt;
}

TEST(StatisticsJsonTest, AQueueOfZeroIsNoUnknownQueue) {
  EXPECT_EQ(queue_length_of(R"(,"queue_length":512)"), 512u);
  EXPECT_EQ(queue_length_of(R"(,"queue_length":0)"), 0u);
  EXPECT_EQ(queue_length_of(R"(,"queue_length":null)"), std::nullopt);
  EXPECT_EQ(queue_length_of(""), std::nullopt);
}

TEST(StatisticsJsonTest, ColumnsOfTwoLengthsAreRefused) {
  EXPECT_EQ(fault_of(R"({"interface":"a","format":1,"statistics":[{"name":"x","type":"list",)"
                     R"("values":{"x":[1],"totals":[]}}]})"),
            "x: a list with columns of two lengths");
}

TEST(StatisticsJsonTest, BinsThatAreNotInOrderAreRefused) {
  const auto fault = [](const std::string& type, const std::string& values) {
    return fault_of(R"({"interface":"a","format":1,"statistics":[{"name":"x","type":")" + type +
                    R"(","values":)" + values + "}]}");
  };
  EXPECT_EQ(fault("array", R"({"bounds":[2,1],"counts":[0,0,0]})"),
            "x: bounds of an array that do not ascend");
  EXPECT_EQ(fault("quantiles", R"({"buckets":{"positive":{"indexes":[3,3],"counts":[1,1]}}})"),
            "x: buckets with columns of two lengths, or whose indexes do not ascend");
}

TEST(StatisticsJsonTest, WhatIsNoIntegerOrTooLongIsBounded) {
  const auto total = [](const std::string& text) {
    const auto read = read_one(R"({"total":)" + text + "}", "value");
    return view::exact_text(std::get<view::Value>(read.values).total);
  };
  const std::string most = "170141183460469231731687303715884105727";
  EXPECT_EQ(total(most + "0"), most);
  EXPECT_EQ(total("-" + most + "9"), "-" + most);
  EXPECT_EQ(total("1.5"), "0");
  EXPECT_EQ(total("1e3"), "0");
}

class RecordingTest : public testing::Test {
 protected:
  void SetUp() override { path_ = testing::TempDir() + "recording_test.jsonl"; }
  void TearDown() override { std::remove(path_.c_str()); }

  std::unique_ptr<Source> open(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    auto opened = open_recording(path_);
    reason_ = opened ? "" : opened.error().reason.substr(path_.size());
    return opened ? std::move(opened).value() : nullptr;
  }
  static std::string line(const char* name, int time, int total) {
    return R"({"interface":")" + std::string(name) + R"(","format":1,"epoch":"e","serial":)" +
           std::to_string(total) + R"(,"time_us":)" + std::to_string(time) + R"(,"realtime_us":)" +
           std::to_string(time + 1000) +
           R"(,"statistics":[{"name":"x","on":1,"type":"value","samples":)" +
           std::to_string(total) + R"(,"values":{"total":1}}]})" + "\n";
  }
  static std::string header() {
    return R"({"tallyctl":"1","every_us":1000,"tallyfs":"1","format":1,"time_us":1,)"
           R"("realtime_us":1001,"interfaces":[{"interface":"a","statistics":1,"on":1,)"
           R"("samples":1,"serial":1}]})"
           "\n";
  }
  std::uint64_t samples(Source& source, const std::string& name) {
    const auto tree = read_tree(source);
    for (const auto& each : tree.value().interfaces) {
      if (each.name == name) return each.samples;
    }
    return 0;
  }

  std::string path_;
  std::string reason_;
};

TEST_F(RecordingTest, AMomentEndsWhereAnInterfaceComesAgain) {
  const auto source =
      open(header() + line("a", 10, 1) + line("b", 11, 5) + line("a", 20, 2) + line("a", 30, 3));
  ASSERT_TRUE(source) << reason_;
  EXPECT_EQ(samples(*source, "a"), 1u);
  EXPECT_EQ(samples(*source, "b"), 5u);
  EXPECT_EQ(source->next({}).value(), Source::Next::kMoment);
  EXPECT_EQ(samples(*source, "a"), 2u);
  // What did not change has no line; its moment goes on all the same.
  EXPECT_EQ(read_interface(*source, "b").value().time_us, 20u);
  EXPECT_EQ(source->next({}).value(), Source::Next::kMoment);
  EXPECT_EQ(source->next({}).value(), Source::Next::kEnd);
  EXPECT_EQ(source->period(), std::chrono::microseconds(1000));
}

TEST_F(RecordingTest, AMomentEndsAtAPauseToo) {
  const auto source = open(header() + line("b", 1000, 1) + line("a", 2000, 1) + line("b", 2001, 2) +
                           line("b", 3000, 3));
  ASSERT_TRUE(source) << reason_;
  EXPECT_EQ(read_tree(*source).value().time_us, 1000u);
  EXPECT_EQ(source->next({}).value(), Source::Next::kMoment);
  EXPECT_EQ(read_tree(*source).value().time_us, 2001u);
  EXPECT_EQ(samples(*source, "b"), 2u);
}

TEST_F(RecordingTest, GoesOnByThePeriodThatIsAskedFor) {
  std::string text = header();
  // The third moment was read 40 us late.
  const std::array<int, 8> times = {0, 1000, 2040, 3000, 4000, 5000, 6000, 7000};
  for (int i = 0; i < 8; ++i) text += line("a", 1000 + times[static_cast<std::size_t>(i)], i + 1);
  const auto source = open(text);
  ASSERT_TRUE(source) << reason_;
  const std::chrono::microseconds period(2000);
  std::vector<std::uint64_t> taken = {samples(*source, "a")};
  while (source->next(period).value() == Source::Next::kMoment) {
    taken.push_back(samples(*source, "a"));
  }
  // The last interval is what is left.
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{1, 3, 5, 7, 8}));
}

TEST_F(RecordingTest, SamplesOfViewsCountOnceInTheirInterface) {
  const std::string a = R"({"interface":"a","format":1,"epoch":"e","serial":2,"time_us":10,)"
                        R"("realtime_us":11,"statistics":[)"
                        R"({"name":"x","on":1,"type":"value","samples":40,"values":{"total":1}},)"
                        R"({"name":"v","of":"x","on":1,"type":"value","samples":40,)"
                        R"("values":{"total":1}}]})";
  const auto source = open(header() + a + "\n");
  ASSERT_TRUE(source) << reason_;
  EXPECT_EQ(samples(*source, "a"), 40u);
}

TEST_F(RecordingTest, ATornLastLineIsPassedOver) {
  const auto source = open(header() + line("a", 10, 1) + line("a", 20, 2).substr(0, 40));
  ASSERT_TRUE(source) << reason_;
  EXPECT_EQ(source->next({}).value(), Source::Next::kEnd);
}

TEST_F(RecordingTest, OtherFilesAreRefused) {
  EXPECT_FALSE(open("{}\n"));
  EXPECT_EQ(reason_, " is no recording of tallyctl: its first line has no \"tallyctl\"");
  EXPECT_FALSE(open("hello\n"));
  EXPECT_FALSE(open(header() + "torn\n" + line("a", 10, 1)));
  EXPECT_TRUE(reason_.starts_with(", line 2: no JSON")) << reason_;
}

}  // namespace
}  // namespace tallyfs
