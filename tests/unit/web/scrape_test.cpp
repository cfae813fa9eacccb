#include "exporters/web/scrape.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "exporters/web/protobuf.h"
#include "exporters/web/target.h"
#include "tests/unit/temporary_directory.h"

namespace tallyfs::web {
namespace {

constexpr const char* kWeb =
    "# HELP a One.\n# TYPE a counter\na_total{interface=\"web\"} 1\n"
    "# HELP b Two.\n# TYPE b gauge\nb{interface=\"web\",q=\"0.5\"} 3\n"
    "# HELP n_series S.\n# TYPE n_series gauge\nn_series 2\n"
    "# HELP n_metrics_omitted O.\n# TYPE n_metrics_omitted gauge\n"
    "n_metrics_omitted{reason=\"limit\"} 7\nn_metrics_omitted{reason=\"duplicate\"} 1\n"
    "# EOF\n";
constexpr const char* kDb =
    "# HELP c Three.\n# TYPE c gauge\nc{interface=\"db\"} 4\n"
    "# HELP a One.\n# TYPE a counter\na_total{interface=\"db\"} 2\n"
    "# HELP n_series S.\n# TYPE n_series gauge\nn_series 3\n"
    "# HELP n_metrics_omitted O.\n# TYPE n_metrics_omitted gauge\n"
    "n_metrics_omitted{reason=\"limit\"} 0\nn_metrics_omitted{reason=\"duplicate\"} 0\n"
    "# EOF\n";

TEST(ScrapeTest, MergesTextsByFamily) {
  EXPECT_EQ(merged({kWeb, kDb}),
            "# HELP a One.\n# TYPE a counter\na_total{interface=\"web\"} 1\n"
            "a_total{interface=\"db\"} 2\n"
            "# HELP b Two.\n# TYPE b gauge\nb{interface=\"web\",q=\"0.5\"} 3\n"
            "# HELP n_series S.\n# TYPE n_series gauge\nn_series 5\n"
            "# HELP n_metrics_omitted O.\n# TYPE n_metrics_omitted gauge\n"
            "n_metrics_omitted{reason=\"limit\"} 7\nn_metrics_omitted{reason=\"duplicate\"} 1\n"
            "# HELP c Three.\n# TYPE c gauge\nc{interface=\"db\"} 4\n");
}

TEST(ScrapeTest, OfTwoKindsOfAFamilyTheFirstStands) {
  const std::string other =
      "# HELP b Two.\n# TYPE b histogram\nb_sum{interface=\"db\"} 3\nb_count{interface=\"db\"} 1\n";
  const std::string made = merged({kWeb, other});
  EXPECT_EQ(made.find("b_sum"), made.npos);
  EXPECT_NE(made.find("n_metrics_omitted{reason=\"duplicate\"} 2\n"), made.npos) << made;
}

TEST(ScrapeTest, CountsTheStatisticsAndSeriesThatAreDropped) {
  const std::string other =
      "# HELP b Two.\n# TYPE b histogram\n"
      "b_bucket{interface=\"db\",host=\"x,\\\"}\",le=\"+Inf\"} 1\n"
      "b_sum{interface=\"db\",host=\"x,\\\"}\"} 3\nb_count{interface=\"db\",host=\"x,\\\"}\"} 1\n"
      "b_created{interface=\"db\",host=\"x,\\\"}\"} 1700000000\n"
      "b_bucket{interface=\"db\",host=\"y\",le=\"0\"} 1\n"
      "b_bucket{interface=\"db\",host=\"y\",le=\"+Inf\"} 1\n"
      "b_sum{interface=\"db\",host=\"y\"} 3\nb_count{interface=\"db\",host=\"y\"} 1\n"
      "# HELP n_series S.\n# TYPE n_series gauge\nn_metrics_series 8\n";
  const std::string first =
      "# HELP b Two.\n# TYPE b gauge\nb{interface=\"web\"} 3\n"
      "# HELP n_series S.\n# TYPE n_series gauge\nn_metrics_series 1\n"
      "# HELP n_metrics_omitted O.\n# TYPE n_metrics_omitted gauge\n"
      "n_metrics_omitted{reason=\"duplicate\"} 1\n";
  const std::string made = merged({first, other});
  EXPECT_NE(made.find("\nn_metrics_series 2\n"), made.npos) << made;
  EXPECT_NE(made.find("n_metrics_omitted{reason=\"duplicate\"} 3\n"), made.npos) << made;
}

TEST(ScrapeTest, DropsQuotedNamesAsOthers) {
  const auto text = [](const std::string& type, const std::string& series) {
    return "# HELP \"b c\" Two.\n# TYPE \"b c\" " + type + "\n" + series +
           "# HELP n S.\n# TYPE n gauge\nn_metrics_series " + (type == "gauge" ? "1" : "2") +
           "\n"
           "n_metrics_omitted{reason=\"duplicate\"} 0\n";
  };
  const std::string made = merged({text("gauge", "{\"b c\",interface=\"x\"} 1\n"),
                                   text("counter",
                                        "{\"b c_total\",interface=\"y\"} 1\n"
                                        "{\"b c_created\",interface=\"y\"} 1700000000\n"
                                        "{\"b c_total\",interface=\"y\",\"d e\"=\"f\"} 1\n")});
  EXPECT_NE(made.find("\nn_metrics_series 1\n"), made.npos) << made;
  EXPECT_NE(made.find("n_metrics_omitted{reason=\"duplicate\"} 2\n"), made.npos) << made;
}

TEST(ScrapeTest, MergesNamesOfAnyCharacters) {
  const auto text = [](const std::string& interface) {
    return "# HELP \"a b\" One.\n# TYPE \"a b\" counter\n{\"a b_total\",interface=\"" + interface +
           "\"} 1\n# HELP \"a c\" Two.\n# TYPE \"a c\" gauge\n{\"a c\",interface=\"" + interface +
           "\"} 2\n";
  };
  EXPECT_EQ(merged({text("x"), text("y")}),
            "# HELP \"a b\" One.\n# TYPE \"a b\" counter\n{\"a b_total\",interface=\"x\"} 1\n"
            "{\"a b_total\",interface=\"y\"} 1\n"
            "# HELP \"a c\" Two.\n# TYPE \"a c\" gauge\n{\"a c\",interface=\"x\"} 2\n"
            "{\"a c\",interface=\"y\"} 2\n");
}

// What a request for these interfaces is answered, in text 0.0.4.
Response answer_of(const std::string& mount, const std::string& query,
                   std::chrono::milliseconds answer_max = kAnswerMax) {
  Scrape scrape(mount, Scrape::Names::kUnderscores, answer_max);
  return scrape.answer(Request{}, *parse_target("/metrics?" + query));
}

TEST(ScrapeTest, ReadsNoFurtherTextBeyondTheBytesOfAnAnswer) {
  const TemporaryDirectory mount;
  const std::filesystem::path texts = mount / "metrics/prom";
  std::filesystem::create_directories(texts);
  for (const char* name : {"a", "b"}) {
    std::ofstream(texts / name) << "# HELP a One.\n# TYPE a gauge\n"
                                << std::string(9 * 1024 * 1024, '#') << "\n";
  }
  std::filesystem::create_directory(texts / "c");  // a reading of it fails for another reason
  // Two such texts take a second beside a sanitizer and compilers.
  const Response answer =
      answer_of(mount / "", "interface=a&interface=b&interface=c", std::chrono::minutes(1));
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "metrics beyond 16 MiB\n");
}

TEST(ScrapeTest, RefusesMoreThan64Interfaces) {
  const TemporaryDirectory mount;
  std::filesystem::create_directories(mount / "metrics/prom");
  std::ofstream(std::filesystem::path(mount / "metrics/prom/a")) << "# HELP a One.\na 1\n";
  std::string query = "interface=a";
  for (int i = 1; i < 64; ++i) query.append("&interface=a");
  EXPECT_EQ(answer_of(mount / "", query).status, 200);
  const Response answer = answer_of(mount / "", query + "&interface=a");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body, "more than 64 interfaces\n");
}

TEST(ProtobufTest, EncodesACounterAsPrometheusHasIt) {
  using namespace std::string_literals;
  EXPECT_EQ(counter_family("n", "h", {{{{"a", "b"}}, 1.0}}),
            "\x1d\x0a\x01n\x12\x01h\x18\x00\x22\x13"
            "\x0a\x06\x0a\x01"
            "a\x12\x01"
            "b\x1a\x09\x09\x00\x00\x00\x00\x00\x00\xf0\x3f"s);
}

}  // namespace
}  // namespace tallyfs::web
