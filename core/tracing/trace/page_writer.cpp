#include "core/tracing/trace/page_writer.h"

#include <cstring>
#include <utility>

namespace tallyfs::tracing {
namespace {

constexpr std::uint32_t kTypeBits = 5;
constexpr std::uint32_t kDeltaBits = 27;
constexpr std::uint64_t kDeltaMask = (std::uint64_t{1} << kDeltaBits) - 1;
constexpr std::uint64_t kTimeMask = (std::uint64_t{1} << 59) - 1;

constexpr std::size_t kWordBytes = 4;
constexpr std::uint32_t kWordsMax = 28;  // of a record without a size of its own
constexpr std::uint32_t kTimeExtend = 30;
constexpr std::uint32_t kTimeStamp = 31;

constexpr std::uint64_t kMissingFlag = std::uint64_t{1} << 31;
constexpr std::uint64_t kMissingNumberFlag = std::uint64_t{1} << 30;
constexpr std::size_t kCommitAt = 8;

bool has_number(const PageRoom::Missing& missing) {
  return missing.number > 0 && !missing.is_at_least;
}

}  // namespace

std::optional<PageRoom::Entry> PageRoom::add(std::uint64_t time_ns, std::size_t bytes) {
  Entry entry;
  entry.words = (bytes + kWordBytes - 1) / kWordBytes;
  entry.has_size = entry.words > kWordsMax;
  entry.is_first = is_empty();
  entry.goes_back = !entry.is_first && time_ns < last_ns_;
  entry.delta_ns = entry.is_first || entry.goes_back ? 0 : time_ns - last_ns_;
  entry.has_time_entry = entry.goes_back || entry.delta_ns > kDeltaMask;
  const std::size_t heads = (entry.has_time_entry ? 2 : 0) + (entry.has_size ? 2 : 1);
  const std::size_t needed = (entry.words + heads) * kWordBytes;
  // A page of several records has room for the number of those that are missing.
  const bool keeps_free = has_number(missing_) && !entry.is_first;
  const std::size_t kept_free = keeps_free ? sizeof missing_.number : 0;
  if (needed + kept_free > kPageBytes - kHeadBytes - used_bytes_) return std::nullopt;
  // The upper bits of a time are those of the page's time, so this time needs another page.
  const bool is_too_far =
      entry.goes_back ? time_ns >> 59 != last_ns_ >> 59 : entry.delta_ns > kTimeMask;
  if (entry.has_time_entry && is_too_far) return std::nullopt;
  used_bytes_ += needed;
  last_ns_ = time_ns;
  return entry;
}

bool PageRoom::has_number_of_missing() const {
  const bool has_room = kHeadBytes + used_bytes_ + sizeof missing_.number <= kPageBytes;
  return has_number(missing_) && has_room;
}

PageWriter::PageWriter() : page_(kPageBytes, '\0') {}

void PageWriter::put(std::uint32_t word) {
  std::memcpy(page_.data() + kHeadBytes + used_bytes_, &word, sizeof word);
  used_bytes_ += sizeof word;
}

// An entry of two words, which only carries a time.
void PageWriter::put_entry(std::uint32_t type_len, std::uint64_t time) {
  put(static_cast<std::uint32_t>((time & kDeltaMask) << kTypeBits | type_len));
  put(static_cast<std::uint32_t>(time >> kDeltaBits));
}

char* PageWriter::add(std::uint64_t time_ns, std::size_t bytes) {
  const auto entry = room_.add(time_ns, bytes);
  if (!entry) return nullptr;
  if (entry->is_first) std::memcpy(page_.data(), &time_ns, sizeof time_ns);
  if (entry->goes_back) put_entry(kTimeStamp, time_ns & kTimeMask);
  if (entry->has_time_entry && !entry->goes_back) put_entry(kTimeExtend, entry->delta_ns);
  const auto words = static_cast<std::uint32_t>(entry->words);
  const auto own_delta = static_cast<std::uint32_t>(entry->has_time_entry ? 0 : entry->delta_ns);
  put(own_delta << kTypeBits | (entry->has_size ? 0 : words));
  if (entry->has_size) put((words + 1) * std::uint32_t{kWordBytes});
  char* const place = page_.data() + kHeadBytes + used_bytes_;
  used_bytes_ += entry->words * kWordBytes;
  return place;
}

std::string PageWriter::finish() {
  const PageRoom::Missing& missing = room_.missing();
  std::uint64_t commit = used_bytes_;
  if (missing.any()) commit |= kMissingFlag;
  if (room_.has_number_of_missing()) {
    commit |= kMissingNumberFlag;
    std::memcpy(page_.data() + kHeadBytes + used_bytes_, &missing.number, sizeof missing.number);
  }
  std::memcpy(page_.data() + kCommitAt, &commit, sizeof commit);
  return std::move(page_);
}

}  // namespace tallyfs::tracing
