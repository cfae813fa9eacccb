#include "exporters/web/gate.h"

#include <gtest/gtest.h>

namespace tallyfs::web {
namespace {

Request asking(std::string method, std::string host) {
  Request made{.method = std::move(method), .target = "/"};
  made.host = std::move(host);
  return made;
}

int status_of(const Request& request, Purpose purpose, const Access& access) {
  const auto refused = refusal(request, purpose, access);
  return refused ? refused->status : 200;
}

const Access kAccess{.token = "secret", .hosts = {"tally.example.org"}};

TEST(GateTest, TakesLoopbackNamesAndThoseOfTheOption) {
  for (const char* host : {"localhost", "localhost:8255", "LOCALHOST:1", "127.0.0.1:8255",
                           "127.1.2.3", "[::1]:8255", "[::1]", "Tally.Example.org:80"}) {
    EXPECT_EQ(status_of(asking("GET", host), Purpose::kPage, kAccess), 200) << host;
  }
}

TEST(GateTest, RefusesOtherNames) {
  for (const char* host : {"", "evil.example.org", "127.0.0.1.evil.org:80", "localhost.evil.org",
                           "10.0.0.1:8255", "[::2]:1", "127.evil.org"}) {
    EXPECT_EQ(status_of(asking("GET", host), Purpose::kPage, kAccess), 421) << host;
  }
}

TEST(GateTest, RefusesOtherOriginsAndSites) {
  Request request = asking("GET", "localhost:8255");
  request.origin = "http://localhost:8255";
  EXPECT_EQ(status_of(request, Purpose::kPage, kAccess), 200);
  for (const char* origin : {"http://localhost:8256", "null", "http://evil.example.org"}) {
    request.origin = origin;
    EXPECT_EQ(status_of(request, Purpose::kPage, kAccess), 403) << origin;
  }
  request.origin.clear();
  for (const char* site : {"cross-site", "same-site"}) {
    request.fetch_site = site;
    EXPECT_EQ(status_of(request, Purpose::kPage, kAccess), 403) << site;
  }
  for (const char* site : {"none", "same-origin"}) {
    request.fetch_site = site;
    EXPECT_EQ(status_of(request, Purpose::kPage, kAccess), 200) << site;
  }
}

TEST(GateTest, ReadingNeedsTheTokenUnlessItIsOpen) {
  Request request = asking("GET", "localhost");
  EXPECT_EQ(status_of(request, Purpose::kHealth, kAccess), 200);
  for (const char* given : {"", "Bearer ", "Bearer secre", "Bearer secrets", "secret",
                            "Basic secret"}) {
    request.authorization = given;
    EXPECT_EQ(status_of(request, Purpose::kStatistics, kAccess), 401) << given;
    EXPECT_EQ(status_of(request, Purpose::kMetrics, kAccess), 401) << given;
  }
  request.authorization = "bearer secret";
  EXPECT_EQ(status_of(request, Purpose::kStatistics, kAccess), 200);
  request.authorization.clear();
  Access open = kAccess;
  open.metrics = Reading::kOpen;
  EXPECT_EQ(status_of(request, Purpose::kMetrics, open), 200);
  EXPECT_EQ(status_of(request, Purpose::kStatistics, open), 401);
}

TEST(GateTest, ChangesNeedTheOptionTheTokenAndJson) {
  Request request = asking("POST", "localhost");
  Access access = kAccess;
  EXPECT_EQ(status_of(request, Purpose::kChange, access), 401);
  request.authorization = "Bearer secret";
  EXPECT_EQ(status_of(request, Purpose::kChange, access), 403);
  access.changing = Changing::kWithToken;
  access.statistics = Reading::kOpen;
  EXPECT_EQ(status_of(request, Purpose::kChange, access), 415);
  request.content_type = "text/plain";
  EXPECT_EQ(status_of(request, Purpose::kChange, access), 415);
  request.content_type = "application/json; charset=utf-8";
  EXPECT_EQ(status_of(request, Purpose::kChange, access), 200);
  request.authorization.clear();
  EXPECT_EQ(status_of(request, Purpose::kChange, access), 401);
}

TEST(GateTest, RefusesOtherMethods) {
  for (const char* method : {"POST", "PUT", "OPTIONS", "DELETE", "TRACE"}) {
    EXPECT_EQ(status_of(asking(method, "localhost"), Purpose::kPage, kAccess), 405) << method;
  }
  EXPECT_EQ(status_of(asking("HEAD", "localhost"), Purpose::kPage, kAccess), 200);
  EXPECT_EQ(status_of(asking("GET", "localhost"), Purpose::kChange, kAccess), 405);
}

}  // namespace
}  // namespace tallyfs::web
