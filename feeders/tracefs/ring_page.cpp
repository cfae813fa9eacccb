#include "feeders/tracefs/ring_page.h"

#include <cstring>

namespace tallyfs {
namespace {

constexpr std::uint32_t kTypeBits = 5;
constexpr std::uint32_t kDeltaBits = 27;
constexpr std::uint32_t kTypeMask = (1u << kTypeBits) - 1;
constexpr std::uint64_t kTimeMask = (std::uint64_t{1} << 59) - 1;

constexpr std::uint32_t kLongRecord = 0;
constexpr std::uint32_t kPadding = 29;
constexpr std::uint32_t kTimeExtend = 30;
constexpr std::uint32_t kTimeStamp = 31;

constexpr std::uint32_t kLostFlag = 1u << 31;
constexpr std::uint32_t kLostCountFlag = 1u << 30;

// size is 4 or 8, and within bytes.
std::uint64_t read_number(std::span<const char> bytes, std::size_t offset, std::size_t size) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, size);
  return value;
}

std::uint64_t read_lost(const PageFormat& format, std::uint32_t commit,
                        std::span<const char> behind_data) {
  if (!(commit & kLostFlag)) return 0;
  if (!(commit & kLostCountFlag) || behind_data.size() < format.commit.size) return 1;
  return read_number(behind_data, 0, format.commit.size);
}

}  // namespace

Result<RingPage> RingPage::open(const PageFormat& format, std::span<const char> page) {
  if (page.size() < format.data.offset) {
    return Error{ErrorCode::kInvalid, "ring buffer page shorter than its header"};
  }
  const std::uint64_t time_ns = read_number(page, format.timestamp.offset, 8);
  const auto commit = static_cast<std::uint32_t>(read_number(page, format.commit.offset, 4));
  const std::size_t used = commit & ~(kLostFlag | kLostCountFlag);
  const auto data = page.subspan(format.data.offset);
  if (used > data.size()) {
    return Error{ErrorCode::kInvalid, "ring buffer page with more data than it has room for"};
  }
  return RingPage(time_ns, data.first(used), read_lost(format, commit, data.subspan(used)));
}

std::optional<std::span<const char>> RingPage::take(std::size_t bytes) {
  if (bytes > rest_.size()) return std::nullopt;
  const auto taken = rest_.first(bytes);
  rest_ = rest_.subspan(bytes);
  return taken;
}

std::optional<std::uint32_t> RingPage::take_word() {
  const auto bytes = take(4);
  if (!bytes) return std::nullopt;
  return static_cast<std::uint32_t>(read_number(*bytes, 0, 4));
}

std::optional<TraceRecord> RingPage::end_broken() {
  broken_ = true;
  rest_ = {};
  return std::nullopt;
}

std::optional<TraceRecord> RingPage::record(std::optional<std::span<const char>> payload) {
  if (!payload) return end_broken();
  return TraceRecord{time_ns_, *payload};
}

std::optional<TraceRecord> RingPage::next() {
  while (!rest_.empty()) {
    const auto head = take_word();
    if (!head) return end_broken();
    const std::uint32_t type = *head & kTypeMask;
    const std::uint64_t delta = *head >> kTypeBits;
    if (type != kLongRecord && type < kPadding) {
      time_ns_ += delta;
      return record(take(type * std::size_t{4}));
    }
    if (type == kPadding && delta == 0) {
      rest_ = {};
      return std::nullopt;
    }
    const auto word = take_word();
    if (!word) return end_broken();
    const std::uint64_t high = std::uint64_t{*word} << kDeltaBits;
    if (type == kTimeStamp) {
      time_ns_ = (time_ns_ & ~kTimeMask) | ((high | delta) & kTimeMask);
    } else if (type == kTimeExtend) {
      time_ns_ += high | delta;
    } else {
      // A size that does not even hold itself would be read over and over.
      if (*word < 4) return end_broken();
      time_ns_ += delta;
      const auto payload = take(*word - 4);
      if (type == kLongRecord || !payload) return record(payload);
    }
  }
  return std::nullopt;
}

}  // namespace tallyfs
