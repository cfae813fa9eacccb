// A request and its response as values, so that only server.cpp knows the library that speaks HTTP.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tallyfs::web {

// A header that is not there is an empty text.
struct Request {
  std::string method;
  std::string target;  // as it was sent: "/api/1/statistics?rows=50"
  std::string host{};
  std::string origin{};
  std::string fetch_site{};  // Sec-Fetch-Site
  std::string authorization{};
  std::string accept{};
  std::string accept_encoding{};
  std::string if_none_match{};
  std::string content_type{};
  std::string scrape_timeout{};  // X-Prometheus-Scrape-Timeout-Seconds
  std::string body{};
  std::string peer{};  // "127.0.0.1:51234"; "unix" of a Unix socket
};

struct Header {
  std::string name;
  std::string value;
};

struct Response {
  int status = 200;
  std::string content_type{};
  std::string body{};
  std::vector<Header> headers{};
};

// Lowers ASCII letters: names in HTTP do not depend on case.
inline std::string in_lower_case(std::string_view text) {
  std::string made(text);
  for (char& each : made) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return made;
}

// A text for people, with a line feed behind it.
inline Response text_response(int status, std::string text, std::vector<Header> headers = {}) {
  return {status, "text/plain; charset=utf-8", std::move(text.append("\n")), std::move(headers)};
}

}  // namespace tallyfs::web
