#include "exporters/web/scrape.h"

#include <gtest/gtest.h>

#include "exporters/web/protobuf.h"

namespace tallyfs::web {
namespace {

TEST(ScrapeTest, PicksInterfacesWithTheirFamilies) {
  const std::string metrics =
      "# HELP a One.\n# TYPE a counter\na_total{interface=\"web\"} 1\na_total{interface=\"db\"} 2\n"
      "# HELP b Two.\n# TYPE b gauge\nb{interface=\"db\",q=\"0.5\"} 3\n"
      "# HELP c Three.\n# TYPE c gauge\nc 4\n"
      "# HELP d Four.\n# TYPE d gauge\nd{interface=\"we\\\"b\"} 5\n";
  EXPECT_EQ(of_interfaces(metrics, {"db"}),
            "# HELP a One.\n# TYPE a counter\na_total{interface=\"db\"} 2\n"
            "# HELP b Two.\n# TYPE b gauge\nb{interface=\"db\",q=\"0.5\"} 3\n");
  EXPECT_EQ(of_interfaces(metrics, {"we\"b"}),
            "# HELP d Four.\n# TYPE d gauge\nd{interface=\"we\\\"b\"} 5\n");
  EXPECT_EQ(of_interfaces(metrics, {"we"}), "");
  const std::string utf8 =
      "# TYPE \"a.b\" counter\n{\"a.b\\\"_total\",interface=\"web\"} 1\n"
      "{\"a.b_total\",interface=\"db\"} 2\n{\"c.d\"} 3\n";
  EXPECT_EQ(of_interfaces(utf8, {"db"}),
            "# TYPE \"a.b\" counter\n{\"a.b_total\",interface=\"db\"} 2\n");
  EXPECT_EQ(of_interfaces("", {"web"}), "");
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
