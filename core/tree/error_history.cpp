#include "core/tree/error_history.h"

#include <algorithm>
#include <utility>

#include "core/base/json.h"

namespace tallyfs {
namespace {

void write(JsonWriter& json, const Refusal& each) {
  json.begin_object().key("time_us").microseconds(each.time.monotonic);
  json.key("realtime_us").microseconds(each.time.realtime);
  json.key("kind").string(each.is_warning ? "warning" : "error");
  json.key("door").string(each.door == Refusal::Door::kMount ? "mount" : "socket");
  json.key("uid").number(each.uid);
  json.key("where").string(each.where).key("reason").string(each.reason);
  json.key("text").string(each.text).key("column").number(each.column).end_object();
}

}  // namespace

void ErrorHistory::add(Refusal refusal) {
  const MutexLock lock(mutex_);
  last_change_ = refusal.time;
  ++counts_[refusal.uid];
  entries_.push_back(std::move(refusal));
  ++added_;
  if (entries_.size() > kEntries) drop_one();
}

std::size_t ErrorHistory::exposed(uid_t uid, std::size_t count) const {
  return (uid == 0 || uid == owner_) && count <= kKept ? 0 : count;
}

void ErrorHistory::drop_one() {
  auto most = counts_.begin();
  for (auto each = counts_.begin(); each != counts_.end(); ++each) {
    if (exposed(each->first, each->second) >= exposed(most->first, most->second)) most = each;
  }
  entries_.erase(std::ranges::find(entries_, most->first, &Refusal::uid));
  if (--most->second == 0) counts_.erase(most);
}

Result<std::string> ErrorHistory::render(const CallContext& call, std::size_t bytes_max) const {
  std::string text;
  JsonWriter json(text);
  const MutexLock lock(mutex_);
  json.begin_object().key("epoch").string(epoch_);
  json.key("time_us").microseconds(call.now.monotonic);
  json.key("realtime_us").microseconds(call.now.realtime);
  json.key("begun_us").microseconds(begun_.monotonic);
  json.key("reported").number(added_).key("dropped").number(added_ - entries_.size());
  json.key("errors").begin_array();
  for (const Refusal& each : entries_) write(json, each);
  json.end_array().end_object();
  text.push_back('\n');
  if (text.size() > bytes_max) return Error{ErrorCode::kNoSpace, "the text would be too long"};
  return text;
}

Timestamp ErrorHistory::last_change(Timestamp) const {
  const MutexLock lock(mutex_);
  return last_change_;
}

}  // namespace tallyfs
