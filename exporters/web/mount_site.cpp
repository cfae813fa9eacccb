// Longer than most: all requests of the API, and what each of them may ask for.
#include "exporters/web/mount_site.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "core/base/keyed_hash.h"
#include "core/base/labels.h"
#include "core/base/nearest.h"
#include "core/base/text.h"
#include "exporters/web/assets.h"
#include "exporters/web/gzip.h"
#include "exporters/web/heat_json.h"
#include "exporters/web/interface_json.h"
#include "exporters/web/line_json.h"
#include "exporters/web/overview_json.h"
#include "exporters/web/parameters.h"
#include "program/log.h"
#include "tools/display/distribution.h"
#include "tools/tree/definition_file.h"
#include "tools/tree/json.h"

namespace tallyfs::web {
namespace {

constexpr std::size_t kRowsMax = 1000;
constexpr std::size_t kSecondsMax = 86'400;
constexpr std::size_t kBinsMax = 256;
constexpr std::size_t kDefinitionBytesMax = 16 * 1024;
constexpr const char* kForEver = "max-age=31536000, immutable";

bool is_api(const Target& target) {
  return target.path.size() >= 3 && target.path[0] == "api" && target.path[1] == "1";
}

bool is_tracing(const Target& target) {
  const std::string& what = target.path[2];
  return what == "hists" ? target.path.size() == 3
                         : (what == "hist" || what == "cpus") && target.path.size() == 4;
}

// A file of the page in the folder of this version: what it is never changes.
bool is_versioned(const Target& target) {
  return target.path.size() == 2 && !assets().empty() && target.path[0] == assets_version();
}

std::optional<Purpose> purpose_of(const Target& target, MountSite::Serves serves) {
  const auto& path = target.path;
  if (path == std::vector<std::string>{"metrics"}) return Purpose::kMetrics;
  if (path == std::vector<std::string>{"healthz"}) return Purpose::kHealth;
  if (serves == MountSite::Serves::kMetrics) return std::nullopt;
  if (is_api(target)) {
    const bool changes = path[2] == "definition" && path.size() == 4;
    const bool reads = (path[2] == "statistics" && path.size() <= 4) ||
                       ((path[2] == "heat" || path[2] == "line") && path.size() == 5) ||
                       (path[2] == "span" && path.size() == 4) ||
                       (path[2] == "changed" && path.size() == 3) || is_tracing(target);
    if (changes) return Purpose::kChange;
    return reads ? std::optional(Purpose::kStatistics) : std::nullopt;
  }
  const bool is_page = path.size() <= 1 || is_versioned(target);
  return is_page ? std::optional(Purpose::kPage) : std::nullopt;
}

// Names with slashes between them, which lead to nothing above.
bool is_path_of_names(std::string_view path) {
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    if (!is_name(part)) return false;
    path.remove_prefix(std::min(part.size() + 1, path.size()));
  }
  return true;
}

bool is_latency(std::string_view name) {
  return name.starts_with(kLatencies) && is_path_of_names(name.substr(kLatencies.size()));
}

// tracing/events/SYSTEM/EVENT, or the same of an instance.
bool is_event(std::string_view name) {
  if (!is_path_of_names(name)) return false;
  const auto slashes = std::ranges::count(name, '/');
  if (name.starts_with("tracing/events/")) return slashes == 3;
  return name.starts_with("tracing/instances/") && slashes == 5 &&
         name.find("/events/") != name.npos;
}

// An interface, or a latency histogram; nothing else below the mount.
bool is_readable_name(const std::string& name) { return is_name(name) || is_latency(name); }

Response page_response(const Request& request, const Target& target) {
  if (assets().empty()) {
    return text_response(404,
                         "this tally-web was built without its page, for lack of D3's "
                         "modules; /api/1/statistics and /metrics are there");
  }
  const Asset* const asset = find_asset(target.path.empty() ? "index.html" : target.path.back());
  if (!asset) return text_response(404, "no such page");
  Response made{200,
                std::string(asset->content_type),
                {},
                {{"ETag", std::string(asset->etag)},
                 {"Cache-Control", is_versioned(target) ? kForEver : "no-cache"},
                 {"Vary", "Accept-Encoding"}}};
  if (request.if_none_match == asset->etag) {
    made.status = 304;
    return made;
  }
  const bool packed = accepts_gzip(request.accept_encoding);
  made.body = packed ? asset->gzip : asset->plain;
  if (packed) made.headers.push_back({"Content-Encoding", "gzip"});
  return made;
}

Response json_response(int status, std::string body) {
  return {
      status, "application/json", std::move(body.append("\n")), {{"Cache-Control", "no-store"}}};
}

Response json_response(JsonBody body) {
  std::array<char, 24> etag{};
  const auto same = std::string_view(body.text).substr(body.same_from);
  std::snprintf(etag.data(), etag.size(), "\"%016llx\"",
                static_cast<unsigned long long>(keyed_hash(same)));
  Response made = json_response(200, std::move(body.text));
  made.headers.push_back({"ETag", etag.data()});
  return made;
}

std::string error_json(const std::string& reason) {
  std::string text;
  JsonWriter(text).begin_object().key("error").string(reason).end_object();
  return text;
}

Response no_answer(const Error& error) {
  Response made = json_response(503, error_json(error.reason));
  made.headers.push_back({"Retry-After", "1"});
  return made;
}

// A missing name, or one that tally-web may not read, stays so: the client need not try again. Any
// other failure may pass.
Response failure(const Error& error) {
  if (error.code == ErrorCode::kNotFound) return json_response(404, error_json(error.reason));
  if (error.code == ErrorCode::kNoAccess) return json_response(403, error_json(error.reason));
  return no_answer(error);
}

// With the name that was meant, if one of those there are is near.
template <typename Named>
Error with_meant(Error error, const std::string& asked, const std::vector<Named>& known) {
  std::vector<std::string> names;
  for (const Named& each : known) names.push_back(each.name);
  error.reason.append(did_you_mean(asked, names));
  return error;
}

Error no_statistic(const view::Interface& interface, const std::string& asked,
                   const std::string& kind) {
  return with_meant({ErrorCode::kNotFound, interface.name + " has no " + kind + " " + asked}, asked,
                    interface.statistics);
}

// 304 if the client has it; gzip if it takes it.
Response finished(const Request& request, Response response) {
  if (response.body.size() > kAnswerBytesMax) {
    return json_response(503, error_json("an answer of more than 16 MiB; ask for fewer rows"));
  }
  const auto etag = std::ranges::find(response.headers, "ETag", &Header::name);
  if (etag != response.headers.end() && etag->value == request.if_none_match) {
    response.status = 304;
    response.body.clear();
    return response;
  }
  if (response.body.size() < kGzipBytesMin || !accepts_gzip(request.accept_encoding)) {
    return response;
  }
  if (std::string packed = gzip(response.body); !packed.empty()) {
    response.body = std::move(packed);
    response.headers.push_back({"Content-Encoding", "gzip"});
    response.headers.push_back({"Vary", "Accept-Encoding"});
  }
  return response;
}

// Microseconds of the wall clock.
std::uint64_t now_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now);
  return static_cast<std::uint64_t>(micros.count());
}

std::size_t columns_of(const Target& target) {
  return std::max<std::size_t>(10, target.number("columns", 300, 1000));
}

// A map has bins of whole octaves; the line of percentiles is as fine as the store has it.
PastSpan wanted_of(const Target& target, const past::Span& span) {
  PastSpan made{span, columns_of(target)};
  if (target.path[2] == "heat") made.precision = 0;
  return made;
}

InterfaceOrder order_of(const Target& target) {
  using By = InterfaceOrder::By;
  InterfaceOrder made{.label = text_parameter(target, "label"),
                      .filter = text_parameter(target, "filter")};
  if (const std::string* const one = target.find("statistic")) made.statistic = *one;
  const std::string sort = text_parameter(target, "sort");
  if (sort == "name") made.by = By::kName;
  if (sort == "rate") made.by = By::kRate;
  if (sort == "value") made.by = By::kValue;
  made.is_by_name = text_parameter(target, "by") == "name";
  made.only_counted = text_parameter(target, "counted") == "1";
  made.as = target.number("order", 0, SIZE_MAX / 2);
  made.first = target.number("first", 0, SIZE_MAX / 2);
  made.rows = target.number("rows", kRowsMax, kRowsMax);
  return made;
}

}  // namespace

MountSite::MountSite(std::unique_ptr<Source> source, Keeps keeps, Access access, Serves serves,
                     Scrape::Names names)
    : access_(std::move(access)),
      serves_(serves),
      store_(std::move(keeps.store)),
      scrape_(source->mount(), names),
      tracing_(source->mount()),
      changes_(store_),
      watch_(std::move(source), keeps.time),
      // No number of a start before is used again.
      orders_(now_us()) {}

std::optional<Response> MountSite::answer_at_once(const Request& request) {
  const auto target = parse_target(request.target);
  if (!target) return text_response(400, "no target that can be read");
  const auto purpose = purpose_of(*target, serves_);
  if (auto refused = refusal(request, purpose.value_or(Purpose::kPage), access_)) return refused;
  if (!purpose) return text_response(404, "no such page");
  if (*purpose != Purpose::kPage) return std::nullopt;
  if (const auto fault = unknown_of(*target, *purpose)) return text_response(400, *fault);
  return page_response(request, *target);
}

Response MountSite::answer(const Request& request) {
  const Target target = *parse_target(request.target);
  const Purpose purpose = *purpose_of(target, serves_);
  if (const auto fault = unknown_of(target, purpose)) {
    const bool is_text = purpose == Purpose::kMetrics || purpose == Purpose::kHealth;
    return is_text ? text_response(400, *fault) : json_response(400, error_json(*fault));
  }
  switch (purpose) {
    case Purpose::kMetrics:
      return scrape_.answer(request, target);
    case Purpose::kHealth:
      return health();
    case Purpose::kChange:
      return change(request, target.path[3]);
    case Purpose::kStatistics:
    case Purpose::kPage:
      break;
  }
  return finished(request, is_tracing(target) ? trace(target) : read(target));
}

void MountSite::tick() {
  changes_.tick();
  const MutexLock lock(mutex_);
  watch_.tick();
  if (!watch_.has_attention()) families_.clear();
}

Response MountSite::read(const Target& target) {
  if (const auto fault = wrong_value_of(target)) return json_response(400, error_json(*fault));
  if (target.path[2] == "heat" || target.path[2] == "line") return over_time(target);
  if (target.path[2] == "span") return span(target);
  if (target.path[2] == "changed") return changed();
  const MutexLock lock(mutex_);
  // A tree that is not there is a mount that is gone.
  if (auto done = watch_.refresh(); !done) return no_answer(done.error());
  return target.path.size() == 3 ? overview(target) : interface(target);
}

Response MountSite::overview(const Target& target) {
  OverviewOrder order{.filter = text_parameter(target, "filter")};
  const std::string sort = text_parameter(target, "sort");
  if (sort == "name") order.by = OverviewOrder::By::kName;
  if (sort == "p99") order.by = OverviewOrder::By::kSlowest;
  order.first = target.number("first", 0, SIZE_MAX / 2);
  order.rows = target.number("rows", kRowsMax, kRowsMax);
  order.as = target.number("order", 0, SIZE_MAX / 2);
  const bool may_change = access_.changing == Changing::kWithToken;
  return json_response(
      overview_json(watch_, orders_, order,
                    may_change ? "" : "read only: tally-web runs without --allow-changes"));
}

Response MountSite::changed() {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().key("changed").value_text(changes_.json(now_us())).key("worst");
  {
    const MutexLock lock(mutex_);
    if (auto done = watch_.refresh(); !done) return no_answer(done.error());
    write_worst(writer, watch_);
  }
  writer.end_object();
  return json_response({std::move(text), 0});
}

Response MountSite::interface(const Target& target) {
  const std::string& name = target.path[3];
  if (!is_readable_name(name)) return failure({ErrorCode::kNotFound, "no such interface"});
  InterfaceOrder order = order_of(target);
  const std::string asked = order.statistic.value_or("");
  const bool is_of_sums = !order.label.empty();
  const auto followed = watch_.look_at(name, is_of_sums ? "" : asked);
  if (!followed) return failure(not_followed(followed.error(), name));
  const auto family = is_of_sums ? families_.find(followed.value()->now, order.label)
                                 : Result<const Family*>(nullptr);
  if (!family) return failure(family.error());
  const view::Interface& now = is_of_sums ? family.value()->interface : followed.value()->now;
  if (!asked.empty() && !now.find(asked)) {
    // People may type the name as they see it, which is not always as it is stored.
    const auto stored = stored_name(asked);
    const bool is_there = stored && now.find(stored.value());
    if (!is_there) return failure(no_statistic(now, asked, is_of_sums ? "sum" : "statistic"));
    order.statistic = stored.value();
  }
  if (is_of_sums) {
    const auto& was = followed.value()->before;
    const auto before = was ? families_.find(*was, order.label) : Result<const Family*>(nullptr);
    return json_response(
        sums_json(*family.value(), before ? before.value() : nullptr, orders_, order));
  }
  return json_response(interface_json(*followed.value(), orders_, order));
}

Error MountSite::not_followed(const Error& error, const std::string& interface) const {
  if (error.code != ErrorCode::kNotFound) return error;
  return with_meant(error, interface, watch_.tree().interfaces);
}

// A copy of the kept past, for use without the lock. With a span, a missing interface is no error:
// the store may have it.
Result<KeptSpan> MountSite::kept(const std::string& interface, const std::string& name,
                                 const std::optional<past::Span>& span) {
  const MutexLock lock(mutex_);
  if (auto done = watch_.refresh(); !done && !span) return done.error();
  const auto followed = watch_.look_at(interface, name);
  if (!followed && span) return KeptSpan{};
  if (!followed) return not_followed(followed.error(), interface);
  KeptSpan made = kept_span(*followed.value(), span);
  if (span || name.empty() || made.now.find(name)) return made;
  return with_meant({ErrorCode::kNotFound, "no such statistic"}, name, made.now.statistics);
}

Result<PastReading> MountSite::past(const Target& target) {
  const std::string& interface = target.path[3];
  const std::string& name = target.path[4];
  const auto span = span_of(target);
  const std::string label = text_parameter(target, "label");
  if (!label.empty()) return past_of_sum(target, label);
  auto found = kept(interface, name, span);
  if (!found) return found.error();
  if (span) return read_past(found.value(), store_, interface, name, wanted_of(target, *span));
  const auto past = found.value().pasts.find(name);
  return PastReading{*found.value().now.find(name),
                     past == found.value().pasts.end() ? Past() : past->second};
}

Result<PastReading> MountSite::past_of_sum(const Target& target, const std::string& label) {
  const std::string& interface = target.path[3];
  const auto span = span_of(target);
  const auto found = kept(interface, "", span);
  if (!found) return found.error();
  auto reading = span ? read_span(found.value(), store_, interface, "", *span)
                      : Result<SpanReading>(SpanReading{.interface = found.value().now});
  if (!reading) return reading.error();
  const auto family = family_of(reading.value().interface, label);
  if (!family) return family.error();
  const auto sum = family.value().find(target.path[4]);
  if (!sum) return no_statistic(family.value().interface, target.path[4], "sum");
  if (!span) return web::past_of_sum(found.value(), family.value(), *sum);
  return web::past_of_sum(found.value(), family.value(), *sum, store_, wanted_of(target, *span));
}

// Others do not wait while it is rendered, from a copy.
Response MountSite::over_time(const Target& target) {
  const std::string& name = target.path[3];
  if (!is_readable_name(name)) return failure({ErrorCode::kNotFound, "no such interface"});
  const auto found = past(target);
  if (!found) return failure(found.error());
  HeatOrder order{.steps = steps_of(target)};
  const auto span = span_of(target);
  order.seconds = span ? (span->end_us - span->begin_us) / 1'000'000
                       : target.number("seconds", 600, kSecondsMax);
  order.seconds = std::max<std::size_t>(1, order.seconds);
  order.bins_max = std::max<std::size_t>(4, target.number("bins", 64, kBinsMax));
  order.columns_max = columns_of(target);
  const PastReading& reading = found.value();
  if (target.path[2] == "line") {
    return json_response(200, line_json(name, reading, {order.seconds, order.columns_max}));
  }
  if (has_bins(reading.statistic)) {
    return json_response(200, heat_json(name, reading, order));
  }
  return failure({ErrorCode::kNotFound, "it is a " + reading.statistic.type +
                                            "; a heat map needs an array or quantiles"});
}

Response MountSite::span(const Target& target) {
  const std::string& name = target.path[3];
  const auto span = span_of(target);
  if (!span) return json_response(400, error_json("from and to: both are needed"));
  if (!is_readable_name(name)) return failure({ErrorCode::kNotFound, "no such interface"});
  const InterfaceOrder order = order_of(target);
  const std::string asked = order.label.empty() ? order.statistic.value_or("") : "";
  const auto found = kept(name, asked, span);
  if (!found) return failure(found.error());
  const auto reading = read_span(found.value(), store_, name, asked, *span);
  if (!reading) return failure(reading.error());
  auto json = span_json(reading.value(), order);
  return json ? json_response(std::move(json).value()) : failure(json.error());
}

Response MountSite::trace(const Target& target) {
  const std::string& what = target.path[2];
  const std::string name = target.path.size() == 4 ? target.path[3] : std::string();
  Result<std::string> text = Error{ErrorCode::kNotFound, "no such path of tracing/"};
  if (what == "hists") text = tracing_.hists();
  if (what == "hist" && is_event(name)) text = tracing_.hist(name);
  if (what == "cpus" && is_latency(name)) text = tracing_.cpus(name);
  return text ? json_response({std::move(text).value(), 0}) : failure(text.error());
}

Response MountSite::health() {
  const MutexLock lock(mutex_);
  if (auto done = watch_.check(); !done) return text_response(503, "the mount does not answer");
  return text_response(200, "ok");
}

Response MountSite::change(const Request& request, const std::string& interface) {
  const auto body = parse_json(request.body);
  const Json* const line = body ? body.value().find("line") : nullptr;
  const bool is_line = line && line->kind == Json::Kind::kString &&
                       line->text.find_first_of("\n\r") == line->text.npos &&
                       line->text.size() <= kDefinitionBytesMax;
  if (!is_line) return json_response(400, error_json("the body must be {\"line\":\"...\"}"));
  if (!is_name(interface)) return failure({ErrorCode::kNotFound, "no such interface"});
  const MutexLock lock(mutex_);
  auto written = write_definition(watch_.mount(), interface, line->text);
  watch_.forget_reading();
  std::string shown;
  append_escaped(shown, line->text, kDefinitionBytesMax, 0);
  log_info("change by " + request.peer + ": " + interface + ": " + shown +
           (written ? "" : " (refused)"));
  if (!written) {
    const bool is_refused =
        written.error().code == ErrorCode::kInvalid || written.error().code == ErrorCode::kNotFound;
    return json_response(is_refused ? 422 : 503, error_json(written.error().reason));
  }
  std::string text;
  JsonWriter(text).begin_object().key("warning").string(written.value()).end_object();
  return json_response(200, std::move(text));
}

}  // namespace tallyfs::web
