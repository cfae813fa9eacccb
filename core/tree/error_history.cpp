#include "core/tree/error_history.h"

#include <algorithm>
#include <vector>

#include "core/base/json.h"

namespace tallyfs {
namespace {

void write(JsonWriter& json, const Refusal& each) {
  const Refusal::Shown shown = each.shown();
  json.begin_object().key("time_us").microseconds(each.time.monotonic);
  json.key("realtime_us").microseconds(each.time.realtime);
  json.key("kind").string(each.is_warning ? "warning" : "error");
  json.key("door").string(each.door == Refusal::Door::kMount ? "mount" : "socket");
  json.key("uid").number(each.uid);
  json.key("where").string(shown.where).key("reason").string(each.reason());
  json.key("text").string(shown.text).key("column").number(shown.column).end_object();
}

}  // namespace

void ErrorHistory::add(const Refusal& refusal) {
  const MutexLock lock(mutex_);
  last_change_ = refusal.time;
  if (spare_.empty()) spare_.emplace_back();
  spare_.back().number = ++added_;
  spare_.back().refusal = refusal;
  auto& its = entries_[refusal.uid];
  its.splice(its.end(), spare_);
  if (++size_ > kEntries) drop_one();
}

std::size_t ErrorHistory::exposed(uid_t uid, std::size_t count) const {
  return (uid == 0 || uid == owner_) && count <= kKept ? 0 : count;
}

void ErrorHistory::drop_one() {
  const auto exposed_of = [this](const auto& each) {
    return exposed(each.first, each.second.size());
  };
  auto most = entries_.begin();
  for (auto each = entries_.begin(); each != entries_.end(); ++each) {
    if (exposed_of(*each) >= exposed_of(*most)) most = each;
  }
  spare_.splice(spare_.end(), most->second, most->second.begin());
  --size_;
  if (most->second.empty()) entries_.erase(most);
}

Result<std::string> ErrorHistory::render(const CallContext& call, std::size_t bytes_max) const {
  std::string text;
  JsonWriter json(text);
  const MutexLock lock(mutex_);
  json.begin_object().key("epoch").string(epoch_);
  json.key("time_us").microseconds(call.now.monotonic);
  json.key("realtime_us").microseconds(call.now.realtime);
  json.key("begun_us").microseconds(begun_.monotonic);
  json.key("reported").number(added_).key("dropped").number(added_ - size_);
  json.key("errors").begin_array();
  std::vector<const Entry*> ordered;
  for (const auto& [uid, its] : entries_) {
    for (const Entry& each : its) ordered.push_back(&each);
  }
  std::ranges::sort(ordered, {}, &Entry::number);
  for (const Entry* const each : ordered) write(json, each->refusal);
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
