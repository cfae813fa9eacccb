#include "core/event/trace/page_writer.h"

#include <cstring>
#include <utility>

namespace tallyfs {
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

bool has_number(const PageWriter::Missing& missing) {
  return missing.number > 0 && !missing.is_at_least;
}

}  // namespace

PageWriter::PageWriter() : page_(kPageBytes, '\0') {}

void PageWriter::put(std::uint32_t word) {
  std::memcpy(page_.data() + kHeadBytes + used_, &word, sizeof word);
  used_ += sizeof word;
}

// An entry of two words, which only carries a time.
void PageWriter::put_entry(std::uint32_t type_len, std::uint64_t time) {
  put(static_cast<std::uint32_t>((time & kDeltaMask) << kTypeBits | type_len));
  put(static_cast<std::uint32_t>(time >> kDeltaBits));
}

char* PageWriter::add(std::uint64_t time_ns, std::size_t bytes) {
  const std::size_t words = (bytes + kWordBytes - 1) / kWordBytes;
  const bool has_size = words > kWordsMax;
  const bool is_first = used_ == 0;
  const bool goes_back = !is_first && time_ns < last_ns_;
  const std::uint64_t delta = is_first || goes_back ? 0 : time_ns - last_ns_;
  const bool has_entry = goes_back || delta > kDeltaMask;
  const std::size_t needed = (words + (has_entry ? 2 : 0) + (has_size ? 2 : 1)) * kWordBytes;
  // A page of several records has room for the number of those that are missing.
  const std::size_t kept_free = has_number(missing_) && !is_first ? sizeof missing_.number : 0;
  if (needed + kept_free > kPageBytes - kHeadBytes - used_) return nullptr;
  // The upper bits of a time are those of the page's time, so this time needs another page.
  if (has_entry && (goes_back ? time_ns >> 59 != last_ns_ >> 59 : delta > kTimeMask)) {
    return nullptr;
  }
  if (is_first) std::memcpy(page_.data(), &time_ns, sizeof time_ns);
  if (has_entry) {
    put_entry(goes_back ? kTimeStamp : kTimeExtend, goes_back ? time_ns & kTimeMask : delta);
  }
  const auto own_delta = static_cast<std::uint32_t>(has_entry ? 0 : delta);
  put(own_delta << kTypeBits | (has_size ? 0 : static_cast<std::uint32_t>(words)));
  if (has_size) put(static_cast<std::uint32_t>((words + 1) * kWordBytes));
  char* const place = page_.data() + kHeadBytes + used_;
  used_ += words * kWordBytes;
  last_ns_ = time_ns;
  return place;
}

std::string PageWriter::finish() {
  std::uint64_t commit = used_;
  if (missing_.any()) commit |= kMissingFlag;
  const bool has_room = kHeadBytes + used_ + sizeof missing_.number <= kPageBytes;
  if (has_number(missing_) && has_room) {
    commit |= kMissingNumberFlag;
    std::memcpy(page_.data() + kHeadBytes + used_, &missing_.number, sizeof missing_.number);
  }
  std::memcpy(page_.data() + kCommitAt, &commit, sizeof commit);
  return std::move(page_);
}

}  // namespace tallyfs
