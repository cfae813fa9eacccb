#include "feeders/log/follow/cut_copies.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "feeders/log/follow/born_later.h"

namespace tallyfs::logs {
namespace {

std::optional<Checkpoint> begin_of(const OpenedLog& copy) {
  return read_checkpoint(copy.fd.get(), std::min<std::uint64_t>(copy.size, kHashedBytes));
}

}  // namespace

bool CutCopies::is_known(const LogCopy& copy) const {
  const FileIdentity& identity = copy.opened.identity;
  const auto is_it = [&](const Held& each) { return each.copy.opened.identity == identity; };
  return std::ranges::any_of(held_, is_it) ||
         std::ranges::any_of(read_, [&](const Read& each) {
           return each.identity == identity && each.birth == copy.birth &&
                  has(copy.opened, each.begin);
         });
}

void CutCopies::note_read(const LogCopy& copy) {
  if (read_.size() == kReadMax) read_.pop_front();
  read_.push_back({copy.opened.identity, copy.birth,
                   begin_of(copy.opened).value_or(first_checkpoint())});
}

// The youngest come first: older ones were read, as a feeder that was started since does not know.
void CutCopies::hold(const std::string& log, std::chrono::nanoseconds since) {
  std::vector<Rotated> found = written_since(log, since);
  std::ranges::stable_sort(found, std::ranges::greater(), &Rotated::birth);
  for (const Rotated& each : found) {
    if (held_.size() == kHeldMax) return;
    auto opened = open_log(each.path, Found::kByPattern);
    if (!opened) continue;
    LogCopy copy{std::move(opened.value()), each.path, each.birth, each.is_written};
    if (!is_known(copy)) held_.push_back({log, std::move(copy)});
  }
}

// A copy that was held when it was made has grown since.
std::vector<LogCopy> CutCopies::take(const std::string& log, std::chrono::nanoseconds since) {
  hold(log, since);
  std::vector<LogCopy> taken;
  for (Held& each : held_) {
    if (each.log != log) continue;
    struct stat status {};
    if (::fstat(each.copy.opened.fd.get(), &status) != 0) continue;
    each.copy.opened.size = static_cast<std::uint64_t>(status.st_size);
    taken.push_back(std::move(each.copy));
  }
  std::erase_if(held_, [&](const Held& each) { return each.log == log; });
  std::ranges::stable_sort(taken, {}, &LogCopy::birth);
  return taken;
}

std::optional<std::uint64_t> continuation(const OpenedLog& copy, const CountedPart& counted) {
  if (counted.offset <= copy.size) {
    return has(copy, counted.checkpoint) ? std::optional(counted.offset) : std::nullopt;
  }
  std::array<char, kHeadBytes> head{};
  const std::size_t bytes = std::min<std::uint64_t>(copy.size, counted.head.size());
  const ssize_t read = ::pread(copy.fd.get(), head.data(), bytes, 0);
  const bool is_copy = bytes != 0 && read == static_cast<ssize_t>(bytes) &&
                       counted.head.starts_with(std::string_view(head.data(), bytes));
  return is_copy ? std::optional(copy.size) : std::nullopt;
}

std::vector<LogCopy>::iterator last_copy_of(std::vector<LogCopy>& copies,
                                            const CountedPart& counted) {
  auto found = copies.end();
  bool has_all = false;
  for (auto each = copies.begin(); each != copies.end(); ++each) {
    const auto offset = continuation(each->opened, counted);
    if (!offset || (has_all && *offset != counted.offset)) continue;
    found = each;
    has_all = *offset == counted.offset;
  }
  return found;
}

bool has(const OpenedLog& opened, const Checkpoint& checkpoint) {
  return checkpoint.offset <= opened.size &&
         read_checkpoint(opened.fd.get(), checkpoint.offset) == checkpoint;
}

bool has(const LogFile& log, const Checkpoint& checkpoint) {
  return read_checkpoint(log.fd(), checkpoint.offset) == checkpoint;
}

// The first and the last bytes say it.
bool has_all_of(const LogFile& log, const OpenedLog& copy) {
  const auto begin = begin_of(copy);
  const auto end = read_checkpoint(copy.fd.get(), copy.size);
  return begin && end && has(log, *begin) && has(log, *end);
}

bool is_of_now(const LogFile& log, const OpenedLog& copy) {
  return has_all_of(log, copy) || (has(copy, log.checkpoint()) && !has(log, log.checkpoint()));
}

}  // namespace tallyfs::logs
