// data.json, and what other texts for programs say of an interface.
#include <utility>

#include "core/base/json.h"
#include "core/statistic/interface.h"
#include "core/statistic/json_head.h"

namespace tallyfs {
namespace {

// A statistic as it was under the lock. Its members stand in a text for all.
struct Copy {
  std::size_t members_end = 0;
  Gathered gathered;
};

// No statistic has fewer members, names and units aside.
constexpr std::size_t kMembersBytesMin = 150;

}  // namespace

// Members are rendered under the lock: a copy of all definitions would take as long.
Result<std::string> Interface::render_json(std::string_view name, std::uint64_t epoch, Moment now,
                                           std::size_t bytes_max) {
  std::string members;
  std::vector<Copy> copies;
  std::uint64_t version = 0;
  {
    const MutexLock lock(mutex_);
    advance(now);
    version = version_;
    std::uint64_t bytes_min = statistics_.size() * kMembersBytesMin;
    for (const Statistic& statistic : statistics_) bytes_min += statistic.values_bytes_min();
    if (bytes_min > bytes_max) return too_long(bytes_max);
    copies.reserve(statistics_.size());
    for (const Statistic& statistic : statistics_) {
      JsonWriter json(members);
      json.begin_object();
      statistic.write_members(json);
      json.key("values");
      copies.push_back({members.size(), statistic.gathered()});
      if (members.size() > bytes_max) return too_long(bytes_max);
    }
  }
  std::string text;
  JsonWriter json(text);
  write_head(json.begin_object(), {name, epoch, version, now});
  json.key("statistics").begin_array();
  std::size_t begin = 0;
  for (const Copy& copy : copies) {
    if (begin != 0) text.push_back(',');
    text.append(members, begin, copy.members_end - begin);
    begin = copy.members_end;
    JsonWriter values(text, JsonWriter::Encoding::kUtf8, bytes_max);
    std::visit([&](const auto& gathered) { gathered.write_values(values); }, copy.gathered);
    values.end_object();
    if (values.is_too_long()) return too_long(bytes_max);
  }
  json.end_array().end_object();
  text.push_back('\n');
  if (text.size() > bytes_max) return too_long(bytes_max);
  return text;
}

void Interface::copy(std::vector<StatisticCopy>& copies, Moment now) {
  const MutexLock lock(mutex_);
  statistics_.prefetch_first();
  advance(now);
  copies.resize(statistics_.size());
  std::size_t i = 0;
  for (const Statistic& statistic : statistics_) statistic.copy(copies[i++]);
}

Interface::Overview Interface::overview(Moment now) {
  const MutexLock lock(mutex_);
  advance(now);
  Overview overview{.statistics = statistics_.size(), .samples = samples_, .version = version_};
  for (const Statistic& statistic : statistics_) overview.on += statistic.is_on() ? 1 : 0;
  return overview;
}

}  // namespace tallyfs
