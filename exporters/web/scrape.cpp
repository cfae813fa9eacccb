#include "exporters/web/scrape.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>

#include "core/base/text.h"
#include "exporters/web/gzip.h"

namespace tallyfs::web {
namespace {

constexpr std::size_t kNameShownMax = 64;   // bytes of a name that is not there
constexpr std::size_t kInterfacesMax = 64;  // of a request
constexpr const char* kTooLong = "metrics beyond 16 MiB";
constexpr std::chrono::steady_clock::duration kNoTime{0};

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

std::vector<std::string> interfaces_of(const Target& target) {
  std::vector<std::string> names;
  for (const Parameter& each : target.query) {
    if (each.name == "interface") names.push_back(each.value);
  }
  return names;
}

constexpr std::string_view kEnd = "# EOF\n";

std::string_view without_end(std::string_view text) {
  if (text.ends_with(kEnd)) text.remove_suffix(kEnd.size());
  return text;
}

// A family of a text: its lines that begin with #, and its series.
struct Family {
  std::string head{};
  std::vector<std::string_view> series{};
};

// `# HELP` is the first line of each.
std::vector<Family> families_of(std::string_view text) {
  std::vector<Family> made;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (line.starts_with("# HELP ")) made.emplace_back();
    if (made.empty()) made.emplace_back();
    if (line.starts_with('#')) {
      made.back().head.append(line);
    } else {
      made.back().series.push_back(line);
    }
  }
  return made;
}

// `# HELP NAME `: what two texts call the same.
std::string_view name_of(const Family& family) {
  const std::string_view head = family.head;
  constexpr std::size_t kName = std::string_view("# HELP ").size();
  if (head.size() <= kName) return {};
  // A quoted name may have blanks.
  const std::size_t from = head[kName] == '"' ? head.find("\" ", kName) : kName;
  return head.substr(0,
                     std::min(head.find(' ', from == head.npos ? kName : from + 1), head.size()));
}

// Whether the line says when a counter began, which the daemon does not count as a series.
bool is_created(std::string_view series, const Family& family) {
  std::string_view name = name_of(family);
  name.remove_prefix(std::min(name.size(), std::string_view("# HELP ").size()));
  if (name.starts_with('"')) {
    if (!series.starts_with('{')) return false;
    series.remove_prefix(1);
    name.remove_suffix(1);
  }
  return series.starts_with(name) && series.substr(name.size()).starts_with("_created");
}

// Splits the text between the braces at commas. A quoted value may have commas and braces.
std::vector<std::string_view> labels_of(std::string_view series) {
  const std::size_t from = std::min(series.find('{'), series.size() - 1) + 1;
  std::vector<std::string_view> labels;
  bool is_quoted = false;
  for (std::size_t at = from, begin = from; at < series.size(); ++at) {
    if (series[at] == '\\') {
      ++at;
      continue;
    }
    if (series[at] == '"') is_quoted = !is_quoted;
    if (is_quoted || (series[at] != ',' && series[at] != '}')) continue;
    labels.push_back(series.substr(begin, at - begin));
    if (series[at] == '}') break;
    begin = at + 1;
  }
  return labels;
}

// The labels that all series of a statistic have in a family.
std::string statistic_of(std::string_view series) {
  std::string made;
  for (const std::string_view label : labels_of(series)) {
    const bool is_name = label.starts_with('"') && label.find("\"=\"") == label.npos;
    const bool is_of_series =
        label.starts_with("le=") || label.starts_with("q=") || label.starts_with("value=");
    if (!is_name && !is_of_series) made.append(label).append(",");
  }
  return made;
}

class Merging {
 public:
  void add(std::string_view text) {
    for (Family& each : families_of(without_end(text))) add(std::move(each));
  }

  std::string text() const {
    std::string made;
    for (const Family& family : families_) {
      made.append(family.head);
      for (const std::string_view series : family.series) append(made, series);
    }
    return made;
  }

 private:
  void add(Family family) {
    const auto [found, is_new] = by_name_.emplace(name_of(family), families_.size());
    if (!is_new && families_[found->second].head != family.head) {
      drop(family);
      return;
    }
    if (is_new) families_.push_back({std::move(family.head), {}});
    Family& into = families_[found->second];
    for (const std::string_view series : family.series) {
      if (!is_of_text(series)) {
        into.series.push_back(series);
        continue;
      }
      const std::size_t blank = series.rfind(' ');
      const auto [sum, is_first] = sums_.emplace(series.substr(0, blank), 0.0);
      sum->second += std::strtod(series.data() + blank, nullptr);
      if (is_first) into.series.push_back(series);
    }
  }
  // The daemon counts an omitted statistic once, and none of its series.
  void drop(const Family& family) {
    std::set<std::string> statistics;
    for (const std::string_view series : family.series) {
      if (is_created(series, family)) continue;
      statistics.insert(statistic_of(series));
      ++dropped_series_;
    }
    duplicates_ += static_cast<double>(statistics.size());
  }
  // Numbers about the text itself have no label `interface`.
  static bool is_of_text(std::string_view series) {
    return series.find("interface=\"") == series.npos && series.rfind(' ') != series.npos;
  }
  void append(std::string& made, std::string_view series) const {
    if (!is_of_text(series)) {
      made.append(series);
      return;
    }
    const std::string_view name = series.substr(0, series.rfind(' '));
    double sum = sums_.find(name)->second;
    if (name.ends_with("metrics_omitted{reason=\"duplicate\"}")) sum += duplicates_;
    if (name.ends_with("metrics_series")) sum -= dropped_series_;
    made.append(name).append(" ").append(number_text(sum)).append("\n");
  }

  std::vector<Family> families_;
  std::map<std::string, std::size_t> by_name_;
  std::map<std::string, double, std::less<>> sums_;
  double duplicates_ = 0;
  double dropped_series_ = 0;
};

}  // namespace

std::string merged(const std::vector<std::string>& texts) {
  Merging merging;
  for (const std::string& each : texts) merging.add(each);
  return merging.text();
}

Response Scrape::answer(const Request& request, const Target& target) {
  const auto start = Clock::now();
  const Offered offered = target.find("interface") ? Offered::kTexts : Offered::kAll;
  const Chosen chosen = choose_format(request.accept, offered);
  Response response = made_of(request, target, chosen);
  count(response.status, chosen.format, Clock::now() - start);
  return response;
}

// Half a second before the scraper gives up.
std::chrono::milliseconds Scrape::limit_of(const Request& request) const {
  const double seconds = std::atof(request.scrape_timeout.c_str());
  if (!(seconds > 0)) return answer_max_;
  const auto millis = static_cast<std::int64_t>(std::min(seconds, 60.0) * 1000) - 500;
  return std::clamp(std::chrono::milliseconds(millis), std::chrono::milliseconds(100), answer_max_);
}

Response Scrape::made_of(const Request& request, const Target& target, const Chosen& chosen) {
  const auto asked = interfaces_of(target);
  if (asked.size() > kInterfacesMax) {
    return text_response(400, "more than " + std::to_string(kInterfacesMax) + " interfaces");
  }
  auto text = read(chosen, asked, limit_of(request));
  if (!text && text.error().code == ErrorCode::kNotFound && !asked.empty()) {
    return text_response(404, "no interface " + asked.front().substr(0, kNameShownMax));
  }
  if (!text) return text_response(503, text.error().reason, {{"Retry-After", "1"}});
  Response made{200,
                chosen.content_type,
                std::move(text).value(),
                {{"Vary", "Accept, Accept-Encoding"}, {"Cache-Control", "no-store"}}};
  const bool has_end = chosen.format == Format::kOpenMetrics;
  if (has_end) made.body.resize(without_end(made.body).size());
  made.body.append(own_text(chosen.format));
  if (has_end) made.body.append(kEnd);
  if (made.body.size() > kAnswerBytesMax) return text_response(503, kTooLong);
  if (made.body.size() < kGzipBytesMin || !accepts_gzip(request.accept_encoding)) return made;
  std::string packed = gzip(made.body);
  if (packed.empty()) return made;
  made.body = std::move(packed);
  made.headers.push_back({"Content-Encoding", "gzip"});
  return made;
}

Result<std::string> Scrape::read(const std::string& path, std::chrono::milliseconds limit) {
  constexpr std::chrono::seconds kShared{1};
  return readings_.get(path, kShared,
                       [&] { return read_in_time(mount_ + "/metrics/" + path, limit); });
}

// The daemon makes a text of each interface, so that its limits hold for what is asked for alone.
Result<std::string> Scrape::read(const Chosen& chosen, const std::vector<std::string>& interfaces,
                                 std::chrono::milliseconds limit) {
  const bool is_utf8 = names_ == Names::kUtf8 && chosen.takes_utf8;
  const std::string name = name_of(chosen.format) + std::string(is_utf8 ? ".utf8" : "");
  if (interfaces.empty()) return read("tallyfs." + name, limit);
  const auto deadline = Clock::now() + limit;
  std::vector<std::string> texts;
  std::size_t bytes = 0;
  for (const std::string& each : std::set(interfaces.begin(), interfaces.end())) {
    if (!is_name(each)) continue;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(std::max(deadline - Clock::now(), kNoTime));
    auto text = read(name + "/" + each, left);
    if (!text && text.error().code == ErrorCode::kNotFound) continue;
    if (!text) return text.error();
    // The texts are in memory together: no further one is read for an answer that is too long.
    bytes += text.value().size();
    if (bytes > kAnswerBytesMax) return Error{ErrorCode::kNoSpace, kTooLong};
    texts.push_back(std::move(text).value());
  }
  if (texts.empty()) return Error{ErrorCode::kNotFound, "no such interface"};
  return texts.size() == 1 ? std::move(texts.front()) : merged(texts);
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
