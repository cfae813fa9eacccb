#include "feeders/client/name_with_labels.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "tally/statistic.hpp"

namespace tallyfs {
namespace {

std::string name_of(std::string_view family, const std::vector<GivenLabel>& labels) {
  const auto name = name_with_labels(family, labels);
  return name ? name.value() : name.error().reason;
}

TEST(NameWithLabelsTest, EscapesAndSortsWhatAProgramHas) {
  EXPECT_EQ(name_of("l", {{"route", "/cart"}, {"code", "200"}}), "l{code:200,route:%2Fcart}");
  EXPECT_EQ(name_of("l", {{"q", "\"a,b\" {}=~|%41\n"}}),
            "l{q:%22a%2Cb%22%20%7B%7D%3D%7E%7C%2541%0A}");
  EXPECT_EQ(name_of("l", {{"a:b c", "x:y"}}), "l{a%3Ab%20c:x:y}");
  EXPECT_EQ(name_of("l", {{"k", ""}, {"e", " \xC3\xA9\xFF"}}), "l{e:%20\xC3\xA9%FF,k:}");
  EXPECT_EQ(name_of("l", {}), "l");
}

TEST(NameWithLabelsTest, RefusesWhatIsNoName) {
  EXPECT_EQ(name_of("l", {{"a", "1"}, {"a", "2"}}), "the label a is given twice");
  EXPECT_EQ(name_of("l", {{"", "1"}}), "labels are {KEY:VALUE,...}, as {route:/cart,code:200}");
  EXPECT_EQ(name_of("l", {{"a", std::string(251, 'x')}}),
            "the name has 256 bytes with its %XX, of 255");
  for (const char* family : {"", "a/b", "a b", "l{a:1}", "l}"}) {
    EXPECT_EQ(name_of(family, {{"a", "1"}}),
              "the name before labels must be a statistic's name without { and }");
  }
}

TEST(NameWithLabelsTest, IsACallOfCAndOfCpp) {
  const char* const keys[] = {"route"};
  const char* const values[] = {"/cart"};
  std::array<char, STATISTIC_NAME_SIZE> name;
  EXPECT_EQ(statistic_name_with_labels(name.data(), name.size(), "l", keys, values, 1), 0);
  EXPECT_STREQ(name.data(), "l{route:%2Fcart}");
  EXPECT_EQ(statistic_name_with_labels(name.data(), 17, "l", keys, values, 1), 0);
  EXPECT_EQ(statistic_name_with_labels(name.data(), 16, "l", keys, values, 1), -ENAMETOOLONG);
  EXPECT_STREQ(name.data(), "");
  EXPECT_EQ(statistic_name_with_labels(name.data(), name.size(), nullptr, keys, values, 1),
            -EINVAL);
  EXPECT_EQ(tally::labelled("l", {{"b", "1"}, {"a", "/"}}), "l{a:%2F,b:1}");
  EXPECT_THROW((void)tally::labelled("l", {{"a", "1"}, {"a", "2"}}), std::system_error);
}

}  // namespace
}  // namespace tallyfs
