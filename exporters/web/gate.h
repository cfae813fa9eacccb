// The gate: the checks that each request passes before it is answered.
//
// Host must be a loopback name, so that no foreign name can be bound to this server (DNS
// rebinding); Origin must be this server's, and no other site may make the browser ask. There are
// no cookies: a token in each request is the only right. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exporters/web/http.h"

namespace tallyfs::web {

enum class Reading { kWithToken, kOpen };
enum class Changing { kNever, kWithToken };

struct Access {
  std::string token;
  std::string token_file{};
  std::vector<std::string> hosts{};  // names beside the loopback ones, without a port
  Reading statistics = Reading::kWithToken;
  Reading metrics = Reading::kWithToken;
  Changing changing = Changing::kNever;
};

enum class Purpose { kPage, kHealth, kStatistics, kMetrics, kChange };

// Why a request is refused; nothing if it may go on. 421: Host; 403: Origin, Sec-Fetch-Site, or
// changes are not allowed; 405: method; 401: no token; 415: no JSON.
std::optional<Response> refusal(const Request& request, Purpose purpose, const Access& access);

// Whether it has the token, in whatever it asks for.
bool has_token(const Request& request, const Access& access);

// The headers of every response.
const std::vector<Header>& security_headers();

}  // namespace tallyfs::web
