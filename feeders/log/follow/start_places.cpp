#include "feeders/log/follow/start_places.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "feeders/log/follow/born_later.h"
#include "feeders/log/follow/cut_copies.h"

namespace tallyfs::logs {
namespace {

bool is_whole(const LogFile& file, const Checkpoint& common, const OpenedLog& copy) {
  return common.offset >= kHashedBytes || has_all_of(file, copy);
}

// Zero bytes are passed over before a line.
bool ends_a_line(int fd, std::uint64_t offset) {
  char last = '\n';
  if (offset == 0 || ::pread(fd, &last, 1, static_cast<off_t>(offset - 1)) != 1) return true;
  return last == '\n' || last == '\0';
}

}  // namespace

StartPlaces::StartPlaces(From from, Positions& positions, FollowCounts& counts,
                         const Report& report)
    : from_(from),
      positions_(positions),
      begun_(birth_clock()),
      scanned_(positions.scanned()),
      counts_(counts),
      report_(report) {}

LogFile::Start StartPlaces::continue_at(const OpenedLog& opened, std::uint64_t offset) {
  return {offset, !ends_a_line(opened.fd.get(), offset)};
}

LogFile::Start StartPlaces::start_of(const OpenedLog& opened, const std::string& path,
                                     Arrival arrival,
                                     const std::vector<std::unique_ptr<LogFile>>& files) {
  if (const auto start = start_by_record(opened, path)) return *start;
  if (arrival == Arrival::kUnreported) {
    return start_of_copy(opened, path, files).value_or(LogFile::Start());
  }
  if (arrival == Arrival::kNew) {
    const auto end = end_at_start(opened, path);
    return end ? continue_at(opened, *end) : LogFile::Start();
  }
  if (from_ == From::kStart) return {};
  return continue_at(opened, opened.size);
}

void StartPlaces::note_unopened(const std::string& path) {
  if (from_ == From::kStart || unopened_.size() == kUnopenedMax) return;
  Unopened noted{path};
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    noted.identity = {status.st_dev, status.st_ino};
    noted.size = static_cast<std::uint64_t>(status.st_size);
  }
  unopened_.push_back(std::move(noted));
}

// The numbers of files that are gone are used again. A file that could not be looked at begins at
// its end of now.
std::optional<std::uint64_t> StartPlaces::end_at_start(const OpenedLog& opened,
                                                       const std::string& path) {
  const auto found = std::ranges::find_if(unopened_, [&](const Unopened& each) {
    return each.identity ? *each.identity == opened.identity : each.path == path;
  });
  if (found == unopened_.end()) return std::nullopt;
  const Unopened was = *found;
  unopened_.erase(found);
  const auto birth = birth_of(opened.fd.get());
  const bool is_new = birth && !is_born_before(*birth, begun_);
  if (is_new || came_meanwhile(opened, path)) return std::nullopt;
  const std::uint64_t end = was.identity ? was.size : opened.size;
  return end <= opened.size ? std::optional(end) : std::nullopt;
}

std::optional<LogFile::Start> StartPlaces::start_by_record(const OpenedLog& opened,
                                                           const std::string& path) {
  PositionRecord* const record = positions_.find(opened.identity);
  if (!record) return std::nullopt;
  if (record->fits(opened.fd.get(), opened.size)) {
    report_(Told::kNews, path + ": continues at byte " + std::to_string(record->offset()));
    return continue_at(opened, record->offset());
  }
  // The numbers of files that are gone are used again.
  if (!record->is_followed()) {
    record->end();
    return std::nullopt;
  }
  if (const auto start = start_after_crash(opened, path, *record)) return start;
  report_(Told::kLoss, path + ": was cut, and is read from its start");
  counts_.truncations += 1;
  lose(*record);
  return LogFile::Start();
}

// Positions reach the disk earlier than the lines that they count.
std::optional<LogFile::Start> StartPlaces::start_after_crash(const OpenedLog& opened,
                                                             const std::string& path,
                                                             PositionRecord& record) {
  if (!positions_.was_booted()) return std::nullopt;
  const auto common = record.last_common(opened.fd.get(), opened.size);
  if (!common) return std::nullopt;
  const std::uint64_t was = record.offset();
  const bool is_shorter = opened.size < was;
  const LogFile::Start start = continue_at(opened, is_shorter ? opened.size : common->offset);
  record.end();
  counts_.tails_lost += 1;
  std::string text = path + ": has lost lines that were counted, by a crash of the machine";
  text.append(is_shorter ? "; continues at byte " : "; lines count again from byte ");
  report_(Told::kLoss, text + std::to_string(start.offset) + " instead of " + std::to_string(was));
  return start;
}

bool StartPlaces::came_meanwhile(const OpenedLog& opened, const std::string& path) const {
  if (scanned_.count() == 0) return false;
  const PositionRecord* const record = positions_.find(opened.identity);
  if (record && (record->is_followed() || record->fits(opened.fd.get(), opened.size))) return false;
  if (const auto birth = birth_of(opened.fd.get())) return is_born_after(*birth, scanned_);
  bool has_path = false;
  positions_.each([&](const PositionRecord& other) {
    has_path = has_path || (other.is_followed() && other.path() == path);
  });
  return has_path;
}

void StartPlaces::find_moved_devices(const std::vector<std::string>& named) {
  positions_.each([&](PositionRecord& record) {
    const std::string path(record.path());
    const bool is_named = std::ranges::find(named, path) != named.end();
    const auto opened = open_log(path, is_named ? Found::kByName : Found::kByPattern);
    if (opened) (void)is_of(record, opened.value());
  });
}

bool StartPlaces::is_of(PositionRecord& record, const OpenedLog& opened) const {
  if (opened.identity == record.identity()) return true;
  if (!positions_.was_booted() || opened.identity.inode != record.identity().inode) return false;
  const int fd = opened.fd.get();
  const bool is_it = record.fits(fd, opened.size) || record.last_common(fd, opened.size);
  if (is_it) record.set_device(opened.identity.device);
  return is_it;
}

void StartPlaces::lose(PositionRecord& record) {
  lost_.push_back({std::string(record.path()), record.counted()});
  record.end();
}

void StartPlaces::report_missed(const std::vector<std::string>& followed,
                                std::chrono::nanoseconds since) {
  std::vector<LostLog> lost;
  for (const Lost& each : lost_) {
    if (!each.is_found) lost.push_back({each.path, each.counted.offset});
  }
  const std::vector<std::string> missed = missed_logs(followed, lost, since);
  if (missed.empty()) return;
  counts_.missed += missed.size();
  std::string text =
      "is not counted, as it was rotated or cut while no feeder ran, and is compressed or gone: ";
  for (const std::string& each : missed) {
    text.append(&each == missed.data() ? "" : ", ").append(each);
  }
  report_(Told::kLoss, text);
}

void StartPlaces::report_missed_copy(const std::string& log, const LogFile::Cut& cut) {
  const bool has_copy = !missed_logs({log}, {}, cut.intact).empty();
  const auto missed = missed_logs({log}, {{log, cut.counted.offset}}, cut.intact);
  if (!has_copy || missed.empty()) return;
  counts_.missed += 1;
  report_(Told::kLoss, "is not counted, as its copy was compressed before it was seen: " +
                           missed.front());
}

// The feeder before may have been killed after it had found a cut, and before it opened the copy.
bool StartPlaces::is_cut_part(const OpenedLog& opened, const std::string& path,
                              const std::vector<std::unique_ptr<LogFile>>& files) const {
  const auto is_part = [&](const CountedPart& part) {
    return continuation(opened, part).has_value();
  };
  // Any file begins with what one had of which nothing was counted.
  const auto is_of_lost = [&](const Lost& each) {
    return each.counted.checkpoint.offset != 0 && is_part(each.counted);
  };
  const auto is_of_cut = [&](const auto& file) {
    if (file->before_cut() && is_part(*file->before_cut())) return true;
    const auto common = common_part(opened, path, *file);
    return common && !has(*file, *common);
  };
  return std::ranges::any_of(lost_, is_of_lost) || std::ranges::any_of(files, is_of_cut);
}

// The numbers of files that are gone are used again.
bool StartPlaces::is_counted(const OpenedLog& opened) const {
  PositionRecord* const record = positions_.find(opened.identity);
  if (!record) return false;
  if (record->fits(opened.fd.get(), opened.size)) return true;
  if (!record->is_followed()) record->end();
  return record->is_followed();
}

std::optional<LogFile::Start> StartPlaces::start_of_copy(const OpenedLog& opened,
                                                         const std::string& path,
                                                         const CountedPart& counted) const {
  const auto offset = continuation(opened, counted);
  if (!offset) return std::nullopt;
  report_(Told::kNews, path + ": continues at byte " + std::to_string(*offset) + ", as a copy");
  return continue_at(opened, *offset);
}

// copytruncate and editors leave one: what it has was counted, in a file that was cut, or that is
// followed.
std::optional<LogFile::Start> StartPlaces::start_of_copy(
    const OpenedLog& opened, const std::string& path,
    const std::vector<std::unique_ptr<LogFile>>& files) {
  for (Lost& each : lost_) {
    if (each.counted.checkpoint.offset == 0) continue;
    const auto start = start_of_copy(opened, path, each.counted);
    if (!start) continue;
    each.is_found = true;
    return start;
  }
  for (const auto& file : files) {
    if (!file->before_cut()) continue;
    if (const auto start = start_of_copy(opened, path, *file->before_cut())) return start;
  }
  for (const auto& file : files) {
    const auto common = common_part(opened, path, *file);
    if (!common) continue;
    // A kill came between the cut and the copy.
    if (!has(*file, *common)) return start_of_copy(opened, path, {*common, common->offset});
    if (!is_whole(*file, *common, opened)) continue;
    report_(Told::kNews, path + ": is a copy of a log that is followed, and is not counted again");
    return continue_at(opened, opened.size);
  }
  return std::nullopt;
}

// Few bytes may be alike by chance, but not where the name says of which log it is the copy. A copy
// that was made earlier is shorter.
std::optional<Checkpoint> StartPlaces::common_part(const OpenedLog& opened, const std::string& path,
                                                   const LogFile& file) {
  const bool has_name = path.starts_with(file.path()) && path.size() > file.path().size();
  const std::uint64_t bytes_min = has_name ? 1 : kHashedBytes;
  if (file.checkpoint().offset >= bytes_min && has(opened, file.checkpoint())) {
    return file.checkpoint();
  }
  if (!file.record()) return std::nullopt;
  const auto common = file.record()->last_common(opened.fd.get(), opened.size);
  return common && common->offset >= bytes_min ? common : std::nullopt;
}

}  // namespace tallyfs::logs
