#include "exporters/web/negotiation.h"

#include <gtest/gtest.h>

namespace tallyfs::web {
namespace {

constexpr const char* kText = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kOpenMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
constexpr const char* kProtobuf =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

std::string type_for(std::string_view accept) {
  return choose_format(accept, Offered::kAll).content_type;
}

TEST(NegotiationTest, AnswersWithTextWhereNothingIsAskedOrFits) {
  for (const char* accept : {"", "image/png", "text/html", "text/plain;version=9", "a;q=x"}) {
    EXPECT_EQ(type_for(accept), kText) << accept;
  }
}

TEST(NegotiationTest, AnswersPrometheus2) {
  const std::string texts =
      "application/openmetrics-text;version=1.0.0,"
      "application/openmetrics-text;version=0.0.1;q=0.75,"
      "text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
  EXPECT_EQ(type_for(texts), std::string(kOpenMetrics) + "; escaping=underscores");
  const std::string native =
      "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,";
  EXPECT_EQ(type_for(native + texts), kProtobuf);
  EXPECT_EQ(choose_format(native + texts, Offered::kTexts).format, Format::kOpenMetrics);
}

TEST(NegotiationTest, AnswersPrometheus3) {
  EXPECT_EQ(type_for("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
                     "application/openmetrics-text;version=0.0.1;q=0.5,"
                     "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
                     "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"),
            std::string(kOpenMetrics) + "; escaping=allow-utf-8");
  EXPECT_EQ(type_for("text/plain;version=1.0.0;escaping=values;q=0.4, text/plain;q=0.3"),
            "text/plain; version=1.0.0; charset=utf-8; escaping=underscores");
}

TEST(NegotiationTest, AnswersVictoriaMetrics) {
  EXPECT_EQ(type_for("text/plain;version=0.0.4;q=1,*/*;q=0.1"), kText);
}

TEST(NegotiationTest, TheMostSpecificRangeGivesTheWeight) {
  EXPECT_EQ(type_for("*/*, application/openmetrics-text;version=1.0.0;q=0"), kText);
  EXPECT_EQ(type_for("*/*, text/plain;q=0, application/*;q=0"), kText);
  EXPECT_EQ(type_for("text/*;q=0.9, */*;q=0.8"), kText);
}

TEST(NegotiationTest, RangesThatNameNoFormatGetText) {
  for (const char* accept :
       {"*/*", "text/*", "text/html,*/*;q=0.8", "application/json, text/*;q=0.9, */*;q=0.1",
        "text/plain;q=0.5, */*", "application/openmetrics-text;version=1.0.0;q=0, */*"}) {
    EXPECT_EQ(type_for(accept), kText) << accept;
  }
  EXPECT_EQ(type_for("text/plain;q=0, */*"), std::string(kOpenMetrics) + "; escaping=underscores");
  EXPECT_EQ(type_for("application/*"), std::string(kOpenMetrics) + "; escaping=underscores");
}

TEST(NegotiationTest, OfEqualWeightsTheFirstInTheHeaderWins) {
  EXPECT_EQ(type_for("text/plain, application/openmetrics-text;version=1.0.0"), kText);
  EXPECT_EQ(type_for("application/openmetrics-text, text/plain"),
            "application/openmetrics-text; version=0.0.1; charset=utf-8");
}

TEST(NegotiationTest, ProtobufMustBeTheMessageThatThereIs) {
  EXPECT_EQ(type_for("application/vnd.google.protobuf;proto=other.Message"), kText);
  EXPECT_EQ(type_for("application/vnd.google.protobuf;encoding=text"), kText);
  EXPECT_EQ(type_for("application/vnd.google.protobuf"), kProtobuf);
}

TEST(NegotiationTest, GzipIsTakenWhereItHasAWeight) {
  EXPECT_TRUE(accepts_gzip("gzip"));
  EXPECT_TRUE(accepts_gzip("br;q=1.0, gzip;q=0.8, *;q=0.1"));
  EXPECT_TRUE(accepts_gzip("*"));
  for (const char* text : {"", "identity", "gzip;q=0", "*, gzip;q=0", "gzip;q=0, *", "br"}) {
    EXPECT_FALSE(accepts_gzip(text)) << text;
  }
}

}  // namespace
}  // namespace tallyfs::web
