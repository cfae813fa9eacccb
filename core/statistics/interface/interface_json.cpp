// data.json, and what other texts for programs say of an interface.
#include <utility>

#include "core/base/json.h"
#include "core/base/json_head.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs::statistics {
namespace {

// A statistic as it was under the lock. Its members stand in a text for all.
struct Copy {
  std::size_t members_end = 0;
  unsigned decimals = 0;
  TypeData gathered;

  void write_values(JsonWriter& json) const {
    std::visit([&](const auto& each) { each.write_values(json, decimals); }, gathered);
  }
};

// No statistic has fewer members, names and units aside.
constexpr std::size_t kMembersBytesMin = 150;
// A text that may be longer is measured before it is rendered: that takes as long, and no memory.
constexpr std::size_t kMeasuredFrom = 1 << 20;
// The bytes of the head and the end, without the name of the interface.
constexpr std::size_t kFrameBytes = 512;

// bytes_max or more: as far as it was measured.
std::size_t values_length(const std::vector<Copy>& copies, std::size_t bytes_max) {
  std::string piece;
  JsonWriter values(piece, JsonWriter::Encoding::kUtf8, bytes_max, JsonWriter::Keep::kLength);
  values.begin_array();
  for (const Copy& copy : copies) {
    copy.write_values(values);
    if (values.is_too_long()) break;
  }
  return values.length();
}

}  // namespace

void Interface::write_undo(const Statistic& statistic, JsonWriter& json) const {
  const Discarded* const kept = discarded_ ? discarded_->find(statistic) : nullptr;
  if (kept) json.key("undo_us").microseconds(kept->until);
}

JsonWriter& Interface::write_rights(JsonWriter& json) const {
  return json.key("uid").number(uid_).key("feed").string(spelled(feed()));
}

// Members are rendered under the lock: a copy of all definitions would take as long.
Result<std::string> Interface::render_json(std::string_view name, std::uint64_t epoch,
                                           Timestamp now, std::size_t bytes_max) {
  std::string members;
  std::vector<Copy> copies;
  std::uint64_t version = 0;
  std::uint64_t bytes_min = 0;
  const CellLooks::Open open(cell_looks_);
  {
    const MutexLock lock(mutex_);
    advance_for(open, now);
    version = version_;
    bytes_min = statistics_.size() * kMembersBytesMin;
    for (const Statistic& statistic : statistics_) bytes_min += statistic.values_bytes_min();
    if (bytes_min > bytes_max) return too_long(bytes_max);
    copies.reserve(statistics_.size());
    for (const Statistic& statistic : statistics_) {
      JsonWriter json(members);
      json.begin_object();
      statistic.write_members(json);
      write_undo(statistic, json);
      json.key("values");
      copies.push_back({members.size(), statistic.definition().decimals, statistic.gathered()});
      if (members.size() > bytes_max) return too_long(bytes_max);
    }
  }
  std::string text;
  if (bytes_min > kMeasuredFrom) {
    const std::size_t bytes = members.size() + values_length(copies, bytes_max);
    if (bytes > bytes_max) return too_long(bytes_max);
    text.reserve(bytes + copies.size() + name.size() + kFrameBytes);
  }
  JsonWriter json(text);
  write_head(json.begin_object(), {name, epoch, version, now});
  write_rights(json).key("statistics").begin_array();
  std::size_t begin = 0;
  for (Copy& each : copies) {
    const Copy copy = std::move(each);  // gone before the next one is text
    if (begin != 0) text.push_back(',');
    text.append(members, begin, copy.members_end - begin);
    begin = copy.members_end;
    JsonWriter values(text, JsonWriter::Encoding::kUtf8, bytes_max);
    copy.write_values(values);
    values.end_object();
    if (values.is_too_long()) return too_long(bytes_max);
  }
  json.end_array().end_object();
  text.push_back('\n');
  if (text.size() > bytes_max) return too_long(bytes_max);
  return text;
}

void Interface::copy(std::vector<StatisticCopy>& copies, Timestamp now, CellBudget& budget) {
  const MutexLock lock(mutex_);
  statistics_.prefetch_first();
  advance(now, budget);
  copies.resize(statistics_.size());
  std::size_t i = 0;
  for (const Statistic& statistic : statistics_) statistic.copy(copies[i++]);
}

Interface::Overview Interface::overview(Timestamp now, CellBudget& budget) {
  const MutexLock lock(mutex_);
  advance(now, budget);
  return {.statistics = statistics_.size(),
          .on = standing().on,
          .samples = samples_,
          .version = version_};
}

}  // namespace tallyfs::statistics
