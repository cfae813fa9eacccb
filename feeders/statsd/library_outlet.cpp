#include "feeders/statsd/library_outlet.h"

#include <string_view>
#include <utility>

namespace tallyfs::statsd {
namespace {

// The fields of the events, as event_register() is told of them below.
struct EventFields {
  const char* title;
  const char* text;
  const char* host;
  const char* key;
  const char* source;
  const char* priority;
  const char* alert;
  const char* tags;
};
constexpr const char* kEventFields =
    "char[] title; char[] text; char[] host; char[] key; char[] source; char[] priority; "
    "char[] alert; char[] tags";

struct CheckFields {
  const char* name;
  const char* host;
  const char* message;
  const char* tags;
  std::int64_t status;
};
constexpr const char* kCheckFields =
    "char[] name; char[] host; char[] message; char[] tags; s64 status";

// The longest text of a field char[].
constexpr std::size_t kTextBytesMax = 1'023;

std::string cut(std::string_view text) { return std::string(text.substr(0, kTextBytesMax)); }

}  // namespace

LibraryOutlet::LibraryOutlet() {
  (void)::event_register(&event_, "statsd", "event", kEventFields);
  (void)::event_register(&check_, "statsd", "check", kCheckFields);
}

LibraryOutlet::~LibraryOutlet() {
  ::event_unregister(&event_);
  ::event_unregister(&check_);
}

std::optional<Outlet::Id> LibraryOutlet::open(const NewSeries& series) {
  return statistics_.open(series.interface, series.name, series.definition);
}

// Samples of it that are held are sent before it goes.
void LibraryOutlet::remove(Id series) {
  flush();
  statistics_.remove(series);
}

void LibraryOutlet::add(Id series, const Sample& sample) {
  entries_[held_++] = {LibraryStatistics::at(series), sample.x, sample.y, sample.time.count()};
  if (held_ == kEntriesMax) flush();
}

void LibraryOutlet::flush() { ::statistic_add_each(entries_.data(), std::exchange(held_, 0)); }

void LibraryOutlet::write(const Event& event) {
  if (!::event_enabled(event_)) return;
  const std::string title = cut(event.title);
  const std::string text = cut(event.text);
  const std::string host = cut(event.host);
  const std::string key = cut(event.key);
  const std::string source = cut(event.source);
  const std::string priority = cut(event.priority);
  const std::string alert = cut(event.alert);
  const std::string tags = cut(event.tags);
  const EventFields fields{title.c_str(),  text.c_str(),     host.c_str(),  key.c_str(),
                           source.c_str(), priority.c_str(), alert.c_str(), tags.c_str()};
  (void)::event_write(event_, &fields, sizeof fields);
}

void LibraryOutlet::write(const Check& check) {
  if (!::event_enabled(check_)) return;
  const std::string name = cut(check.name);
  const std::string host = cut(check.host);
  const std::string message = cut(check.message);
  const std::string tags = cut(check.tags);
  const CheckFields fields{name.c_str(), host.c_str(), message.c_str(), tags.c_str(), check.status};
  (void)::event_write(check_, &fields, sizeof fields);
}

}  // namespace tallyfs::statsd
