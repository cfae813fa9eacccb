#include "core/tracing/probe/place_name.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace tallyfs::tracing {
namespace {

PlaceName parsed(const std::string& text, ProbeKind kind = ProbeKind::kEntry) {
  const auto place = parse_place_name(text, kind);
  EXPECT_TRUE(place) << text << ": " << place.error().reason;
  return place ? place.value() : PlaceName();
}

TEST(PlaceNameTest, ANameIsAPlaceThatTheKernelDeclines) {
  for (const char* const text : {"/bin/x:main", "/bin/x:ns::f", "/bin/x:a:b", "/bin/x:_f+1",
                                 "/bin/x:f%return", "/bin/x:", "bin/x:f"}) {
    EXPECT_TRUE(is_place_name(text)) << text;
  }
  for (const char* const text :
       {"/bin/x:0x10", "/bin/x:10a", "/bin/x", "malloc", "a:b", "/bin/x:f:0x10"}) {
    EXPECT_FALSE(is_place_name(text)) << text;
  }
}

TEST(PlaceNameTest, ReadsFunctionsAndMarkers) {
  const PlaceName plain = parsed("/usr/lib/libc.so.6:malloc");
  EXPECT_EQ(plain.path, "/usr/lib/libc.so.6");
  EXPECT_EQ(plain.name, "malloc");
  EXPECT_FALSE(plain.offset || plain.is_marker());
  EXPECT_EQ(parsed("/bin/x:ns::A::f").name, "ns::A::f");
  const PlaceName within = parsed("/bin/x:f@V_1+0x10");
  EXPECT_EQ(within.name, "f");
  EXPECT_EQ(within.version, "V_1");
  EXPECT_EQ(within.offset, 16U);
  EXPECT_EQ(parsed("/bin/x:A::operator+").name, "A::operator+");
  EXPECT_EQ(parsed("/bin/x:f%return").kind, ProbeKind::kReturn);
  EXPECT_EQ(parsed("/bin/x:f", ProbeKind::kReturn).kind, ProbeKind::kReturn);
  const PlaceName marker = parsed("/bin/x:python:gc__start");
  EXPECT_EQ(marker.provider, "python");
  EXPECT_EQ(marker.name, "gc__start");
}

TEST(PlaceNameTest, RefusesWithThePlaceOfTheFault) {
  using Case = std::tuple<const char*, const char*, std::size_t>;
  for (const auto& [text, reason, at] :
       {Case{"bin/x:f", "a path begins with /", 0},
        Case{"/bin/x:", "a function's name is missing", 7},
        Case{"/bin/x:f@", "a version is missing", 9},
        Case{"/bin/x:f+0x1z", "an offset is a number", 9},
        Case{"/bin/x:ns::f(int)", "a function's name stands without its parameters", 12},
        Case{"/bin/x:f+4%return", "a return is one of the function: it has no offset", 7},
        Case{"/bin/x:a:b%return", "a marker has no return", 7},
        Case{"/bin/x:a:", "a marker's name is missing", 9},
        Case{"/bin/x:a:b:c", "a marker is PROVIDER:NAME", 9}}) {
    const auto place = parse_place_name(text, ProbeKind::kEntry);
    ASSERT_FALSE(place) << text;
    EXPECT_EQ(place.error().reason, reason);
    EXPECT_EQ(place.error().token_at, at) << text;
  }
}

TEST(PlaceNameTest, NamesTheEvent) {
  EXPECT_EQ(default_event(parsed("/usr/lib/libc.so.6:malloc")), "p_libc_malloc");
  EXPECT_EQ(default_event(parsed("/bin/x-y:f%return")), "r_x_f");
  EXPECT_EQ(default_event(parsed("/bin/x:f+16")), "p_x_f_0x10");
  EXPECT_EQ(default_event(parsed("/bin/x:ns::f")), "p_x_ns__f");
  EXPECT_EQ(default_event(parsed("/bin/x:python:gc__start")), "python_gc__start");
  EXPECT_EQ(default_event(parsed("/bin/x:3way:go")), "_way_go");
  EXPECT_EQ(default_event(parsed("/bin/x:" + std::string(99, 'f'))).size(), 63U);
}

}  // namespace
}  // namespace tallyfs::tracing
