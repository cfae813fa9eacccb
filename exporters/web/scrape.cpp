#include "exporters/web/scrape.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "exporters/web/gzip.h"
#include "exporters/web/protobuf.h"
#include "exporters/web/server.h"
#include "tools/tree/timed_file.h"

namespace tallyfs::web {
namespace {

constexpr std::string_view kRequestsHelp = "Scrapes that tally-web has answered.";
constexpr std::string_view kSecondsHelp = "Time that tally-web has spent on scrapes.";

const char* name_of(Format format) {
  switch (format) {
    case Format::kText:
      return "prom";
    case Format::kOpenMetrics:
      return "om";
    case Format::kProtobuf:
      return "pb";
  }
  return "prom";
}

// Half a second before the scraper gives up.
std::chrono::milliseconds limit_of(const Request& request) {
  const double seconds = std::atof(request.scrape_timeout.c_str());
  if (!(seconds > 0)) return kAnswerMax;
  const auto millis = static_cast<std::int64_t>(std::min(seconds, 60.0) * 1000) - 500;
  return std::clamp(std::chrono::milliseconds(millis), std::chrono::milliseconds(100), kAnswerMax);
}

std::vector<std::string> interfaces_of(const Target& target) {
  std::vector<std::string> names;
  for (const Parameter& each : target.query) {
    if (each.name == "interface") names.push_back(each.value);
  }
  return names;
}

// As a label's value stands in the text.
std::string escaped(const std::string& value) {
  std::string made;
  for (const char each : value) {
    if (each == '\\' || each == '"') made.push_back('\\');
    made.push_back(each);
  }
  return made;
}

}  // namespace

std::string of_interfaces(std::string_view metrics, const std::vector<std::string>& interfaces) {
  std::vector<std::string> marks;
  for (const std::string& each : interfaces) {
    marks.push_back(std::string("{interface=\"").append(escaped(each)).append("\""));
  }
  std::string made;
  std::string head;  // of the family, until one of its samples is taken
  while (!metrics.empty()) {
    const std::size_t end = std::min(metrics.find('\n'), metrics.size() - 1) + 1;
    const std::string_view line = metrics.substr(0, end);
    metrics.remove_prefix(end);
    if (line.starts_with('#')) {
      if (line.starts_with("# HELP ")) head.clear();
      head.append(line);
      continue;
    }
    const bool is_wanted = std::ranges::any_of(marks, [&](const std::string& mark) {
      const std::size_t at = line.find('{');
      return at != line.npos && line.substr(at).starts_with(mark);
    });
    if (!is_wanted) continue;
    made.append(std::exchange(head, std::string())).append(line);
  }
  return made;
}

Response Scrape::answer(const Request& request, const Target& target) {
  const auto start = Clock::now();
  const Offered offered = target.find("interface") ? Offered::kTexts : Offered::kAll;
  const Chosen chosen = choose_format(request.accept, offered);
  Response response = made_of(request, target, chosen);
  count(response.status, chosen.format, Clock::now() - start);
  return response;
}

Response Scrape::made_of(const Request& request, const Target& target, const Chosen& chosen) {
  auto text = read(chosen.format, limit_of(request));
  if (!text) return text_response(503, text.error().reason, {{"Retry-After", "1"}});
  Response made{200,
                chosen.content_type,
                std::move(text).value(),
                {{"Vary", "Accept, Accept-Encoding"}, {"Cache-Control", "no-store"}}};
  constexpr std::string_view kEnd = "# EOF\n";
  const bool has_end = chosen.format == Format::kOpenMetrics && made.body.ends_with(kEnd);
  if (has_end) made.body.resize(made.body.size() - kEnd.size());
  if (target.find("interface")) made.body = of_interfaces(made.body, interfaces_of(target));
  made.body.append(own_text(chosen.format));
  if (has_end) made.body.append(kEnd);
  if (made.body.size() > kAnswerBytesMax) return text_response(503, "metrics beyond 16 MiB");
  if (made.body.size() < kGzipBytesMin || !accepts_gzip(request.accept_encoding)) return made;
  std::string packed = gzip(made.body);
  if (packed.empty()) return made;
  made.body = std::move(packed);
  made.headers.push_back({"Content-Encoding", "gzip"});
  return made;
}

Result<std::string> Scrape::read(Format format, std::chrono::milliseconds limit) {
  constexpr std::chrono::seconds kShared{1};
  const MutexLock lock(reading_);
  Reading& reading = readings_[static_cast<std::size_t>(format)];
  if (reading.time && Clock::now() - *reading.time < kShared) return reading.text;
  reading.text = read_in_time(mount_ + "/metrics/tallyfs." + name_of(format), limit);
  // A failure within one client's time is not the answer to another.
  reading.time = reading.text ? std::optional(Clock::now()) : std::nullopt;
  return reading.text;
}

std::string Scrape::own_text(Format format) {
  const MutexLock lock(numbers_);
  std::vector<Labelled> counts;
  for (const auto& [which, number] : requests_) {
    counts.push_back({{{"code", std::to_string(which.first)}, {"format", name_of(which.second)}},
                      static_cast<double>(number)});
  }
  const double seconds = static_cast<double>(spent_.count()) / 1e6;
  if (format == Format::kProtobuf) {
    return counter_family("tally_web_requests_total", kRequestsHelp, counts) +
           counter_family("tally_web_scrape_seconds_total", kSecondsHelp, {{{}, seconds}});
  }
  // OpenMetrics names families without _total.
  const char* const end = format == Format::kOpenMetrics ? "" : "_total";
  std::string text;
  const auto head = [&](const char* family, std::string_view help) {
    text.append("# HELP ").append(family).append(end).append(" ").append(help);
    text.append("\n# TYPE ").append(family).append(end).append(" counter\n");
  };
  head("tally_web_requests", kRequestsHelp);
  for (const Labelled& each : counts) {
    text.append("tally_web_requests_total{code=\"").append(each.labels[0].second);
    text.append("\",format=\"").append(each.labels[1].second).append("\"} ");
    text.append(std::to_string(static_cast<std::uint64_t>(each.value))).append("\n");
  }
  head("tally_web_scrape_seconds", kSecondsHelp);
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%.6f", seconds);
  return text.append("tally_web_scrape_seconds_total ").append(number.data()).append("\n");
}

void Scrape::count(int status, Format format, Clock::duration duration) {
  const MutexLock lock(numbers_);
  ++requests_[{status, format}];
  spent_ += std::chrono::duration_cast<std::chrono::microseconds>(duration);
}

}  // namespace tallyfs::web
