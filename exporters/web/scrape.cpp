#include "exporters/web/scrape.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/base/text.h"
#include "exporters/web/gzip.h"
#include "tools/tree/timed_file.h"

namespace tallyfs::web {
namespace {

constexpr std::size_t kNameShownMax = 64;  // bytes of a name that is not there

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

const char* name_of(Limit limit) {
  switch (limit) {
    case Limit::kConnections:
      return "connections";
    case Limit::kReads:
      return "reads";
    case Limit::kBytes:
      return "bytes";
  }
  return "bytes";
}

// Up to the microsecond, without a point if it is whole.
std::string number_text(double value) {
  std::array<char, 40> text{};
  const bool is_whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
  std::snprintf(text.data(), text.size(), is_whole ? "%.0f" : "%.6f", value);
  return text.data();
}

void append_family(std::string& text, std::string_view name, std::string_view help,
                   const std::vector<Labelled>& values, Format format) {
  // OpenMetrics names families without _total.
  std::string_view family = name;
  if (format == Format::kOpenMetrics) family.remove_suffix(std::string_view("_total").size());
  text.append("# HELP ").append(family).append(" ").append(help);
  text.append("\n# TYPE ").append(family).append(" counter\n");
  for (const Labelled& each : values) {
    text.append(name);
    const char* separator = "{";
    for (const auto& [label, value] : each.labels) {
      text.append(separator).append(label).append("=\"").append(value).append("\"");
      separator = ",";
    }
    if (!each.labels.empty()) text.append("}");
    text.append(" ").append(number_text(each.value)).append("\n");
  }
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

// Of a sample, the labels and what follows: of `name{...} 1`, and of `{"name",...} 1`.
std::string_view labels_of(std::string_view line) {
  if (!line.starts_with("{\"")) return line.substr(std::min(line.find('{'), line.size() - 1) + 1);
  std::size_t at = 2;
  while (at < line.size() && line[at] != '"') at += line[at] == '\\' ? 2 : 1;
  return line.substr(std::min(at + 2, line.size()));  // behind the comma
}

}  // namespace

std::string of_interfaces(std::string_view metrics, const std::vector<std::string>& interfaces) {
  std::vector<std::string> marks;
  for (const std::string& each : interfaces) {
    marks.push_back(std::string("interface=\"").append(escaped(each)).append("\""));
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
    const std::string_view labels = labels_of(line);
    const bool is_wanted = std::ranges::any_of(
        marks, [&](const std::string& mark) { return labels.starts_with(mark); });
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

// Of those that were asked for, whether one is there: without metrics of its own it may be, too.
bool Scrape::is_there(const std::vector<std::string>& interfaces) const {
  return std::ranges::any_of(interfaces, [&](const std::string& each) {
    return is_name(each) && list_in_time(mount_ + "/statistics/" + each);
  });
}

Response Scrape::made_of(const Request& request, const Target& target, const Chosen& chosen) {
  auto text = read(chosen, limit_of(request));
  if (!text) return text_response(503, text.error().reason, {{"Retry-After", "1"}});
  Response made{200,
                chosen.content_type,
                std::move(text).value(),
                {{"Vary", "Accept, Accept-Encoding"}, {"Cache-Control", "no-store"}}};
  constexpr std::string_view kEnd = "# EOF\n";
  const bool has_end = chosen.format == Format::kOpenMetrics && made.body.ends_with(kEnd);
  if (has_end) made.body.resize(made.body.size() - kEnd.size());
  if (const auto asked = interfaces_of(target); !asked.empty()) {
    made.body = of_interfaces(made.body, asked);
    if (made.body.empty() && !is_there(asked)) {
      return text_response(404, "no interface " + asked.front().substr(0, kNameShownMax));
    }
  }
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

Result<std::string> Scrape::read(const Chosen& chosen, std::chrono::milliseconds limit) {
  constexpr std::chrono::seconds kShared{1};
  const bool is_utf8 = names_ == Names::kUtf8 && chosen.takes_utf8;
  const std::string name = name_of(chosen.format) + std::string(is_utf8 ? ".utf8" : "");
  return readings_.get(name, kShared,
                       [&] { return read_in_time(mount_ + "/metrics/tallyfs." + name, limit); });
}

std::vector<Scrape::OwnFamily> Scrape::own_families() {
  const MutexLock lock(numbers_);
  OwnFamily requests{"tally_web_requests_total", "Scrapes that tally-web has answered.", {}};
  for (const auto& [which, number] : requests_) {
    requests.values.push_back(
        {{{"code", std::to_string(which.first)}, {"format", name_of(which.second)}},
         static_cast<double>(number)});
  }
  OwnFamily limits{"tally_web_limits_total", "Times that a bound of tally-web was reached.", {}};
  for (const Limit each : {Limit::kConnections, Limit::kReads, Limit::kBytes}) {
    limits.values.push_back({{{"limit", name_of(each)}}, static_cast<double>(limits_[each])});
  }
  const double seconds = static_cast<double>(spent_.count()) / 1e6;
  OwnFamily spent{"tally_web_scrape_seconds_total",
                  "Time that tally-web has spent on scrapes.",
                  {{{}, seconds}}};
  return {std::move(requests), std::move(limits), std::move(spent)};
}

std::string Scrape::own_text(Format format) {
  std::string text;
  for (const OwnFamily& family : own_families()) {
    if (format == Format::kProtobuf) {
      text.append(counter_family(family.name, family.help, family.values));
    } else {
      append_family(text, family.name, family.help, family.values, format);
    }
  }
  return text;
}

void Scrape::count_limit(Limit limit) {
  const MutexLock lock(numbers_);
  ++limits_[limit];
}

void Scrape::count(int status, Format format, Clock::duration duration) {
  const MutexLock lock(numbers_);
  ++requests_[{status, format}];
  spent_ += std::chrono::duration_cast<std::chrono::microseconds>(duration);
}

}  // namespace tallyfs::web
