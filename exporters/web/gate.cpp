#include "exporters/web/gate.h"

#include <algorithm>
#include <string_view>

namespace tallyfs::web {
namespace {

// "localhost:8255" without its port; "[::1]" keeps its brackets.
std::string_view name_of(std::string_view host) {
  const std::size_t from = host.starts_with('[') ? host.find(']') : 0;
  if (from == host.npos) return host;
  return host.substr(0, host.find(':', from));
}

bool is_loopback_name(std::string_view name) {
  if (name == "localhost" || name == "[::1]") return true;
  // An address, not a name such as 127.example.org.
  return name.starts_with("127.") && name.find_first_not_of("0123456789.") == name.npos;
}

bool is_own_host(const std::string& host, const Access& access) {
  const std::string name = in_lower_case(name_of(host));
  return is_loopback_name(name) || std::ranges::any_of(access.hosts, [&](const std::string& each) {
           return in_lower_case(each) == name;
         });
}

bool is_own_origin(const Request& request) {
  if (request.origin.empty()) return true;
  const std::string origin = in_lower_case(request.origin);
  const std::string host = in_lower_case(request.host);
  return origin == "http://" + host || origin == "https://" + host;
}

// In a time that does not depend on where they differ.
bool is_same_secret(std::string_view a, std::string_view b) {
  unsigned differ = a.size() == b.size() ? 0u : 1u;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    differ |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return differ == 0;
}

bool needs_token(Purpose purpose, const Access& access) {
  switch (purpose) {
    case Purpose::kPage:
    case Purpose::kHealth:
      return false;
    case Purpose::kStatistics:
      return access.statistics == Reading::kWithToken;
    case Purpose::kMetrics:
      return access.metrics == Reading::kWithToken;
    case Purpose::kChange:
      return true;
  }
  return true;
}

// Says how to get the token, for the page and for scrapers.
Response token_refusal(Purpose purpose, const std::string& file) {
  std::string text =
      "the token is missing or wrong. Only the user of tally-web and root can read "
      "it: sudo cat " +
      file + " shows it. ";
  text.append(purpose == Purpose::kMetrics
                  ? "Prometheus sends it with authorization: credentials_file; or start tally-web "
                    "with --open-metrics."
                  : "Programs send the header 'Authorization: Bearer TOKEN'.");
  return text_response(401, std::move(text), {{"WWW-Authenticate", "Bearer"}});
}

std::optional<Response> method_refusal(const Request& request, Purpose purpose) {
  const bool changes = purpose == Purpose::kChange;
  const bool fits =
      changes ? request.method == "POST" : request.method == "GET" || request.method == "HEAD";
  if (fits) return std::nullopt;
  const std::string allowed = changes ? "POST" : "GET, HEAD";
  return text_response(405, "taken here: " + allowed, {{"Allow", allowed}});
}

}  // namespace

bool has_token(const Request& request, const Access& access) {
  constexpr std::string_view kBearer = "bearer ";
  const std::string_view given = request.authorization;
  return in_lower_case(given.substr(0, kBearer.size())) == kBearer &&
         is_same_secret(given.substr(kBearer.size()), access.token);
}

std::optional<Response> refusal(const Request& request, Purpose purpose, const Access& access) {
  if (!is_own_host(request.host, access)) {
    return text_response(421, "this server has another name; --host NAME allows further ones");
  }
  if (!is_own_origin(request)) return text_response(403, "another site's page may not ask");
  if (!request.fetch_site.empty() && request.fetch_site != "same-origin" &&
      request.fetch_site != "none") {
    return text_response(403, "another site may not lead here; type the address");
  }
  if (auto refused = method_refusal(request, purpose)) return refused;
  if (needs_token(purpose, access) && !has_token(request, access)) {
    return token_refusal(purpose, access.token_file);
  }
  if (purpose != Purpose::kChange) return std::nullopt;
  if (access.changing == Changing::kNever) {
    return text_response(403, "read only: tally-web runs without --allow-changes");
  }
  if (in_lower_case(request.content_type.substr(0, request.content_type.find(';'))) !=
      "application/json") {
    return text_response(415, "a POST here needs the header 'Content-Type: application/json'");
  }
  return std::nullopt;
}

const std::vector<Header>& security_headers() {
  static const std::vector<Header> kHeaders = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
       "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"}};
  return kHeaders;
}

}  // namespace tallyfs::web
