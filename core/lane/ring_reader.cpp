#include "core/lane/ring_reader.h"

#include <bit>

namespace tallyfs {
namespace {

// The parts of a word that record_head() makes.
struct Head {
  std::uint32_t id = 0;
  std::uint32_t words = 0;
  std::uint32_t follows = 0;
};

// nullopt: no feeder writes such a word.
std::optional<Head> parse(std::uint64_t word) {
  const Head head{.id = static_cast<std::uint32_t>(word & UINT32_MAX),
                  .words = static_cast<std::uint32_t>(word >> 32 & 0xff),
                  .follows = static_cast<std::uint32_t>(word >> 40 & 0xff)};
  constexpr std::uint32_t kTimes = kRecordCycles | kRecordNs;
  if (word >> 48 != 0 || (head.follows & ~(kRecordY | kTimes)) != 0) return std::nullopt;
  if ((head.follows & kTimes) == kTimes || head.id >= kLaneIdsMax) return std::nullopt;
  const auto fields = static_cast<std::uint32_t>(std::popcount(head.follows));
  return head.words == 2 + fields ? std::optional(head) : std::nullopt;
}

}  // namespace

std::optional<RingReader> RingReader::open(std::span<const std::byte> file, std::uint64_t ring,
                                           std::uint64_t position) {
  const std::uint64_t at = ring & UINT32_MAX;
  const std::uint64_t bytes = ring >> 32;
  const bool has_size =
      bytes >= kRingBytesMin && bytes <= kRingBytesMax && std::has_single_bit(bytes);
  if (!has_size || at < kLaneHeapAt || at % 64 != 0) return std::nullopt;
  if (at > file.size() || file.size() - at < bytes) return std::nullopt;
  const auto* const words = reinterpret_cast<const std::atomic<std::uint64_t>*>(file.data() + at);
  return RingReader(words, bytes / sizeof(std::uint64_t), ring, position);
}

bool RingReader::accept(std::uint64_t head) {
  if (head >= position_ && head - position_ <= size_) return true;
  position_ = head;
  return false;
}

RingReader::Taken RingReader::take(std::uint64_t head, std::span<RingRecord> records) {
  Taken taken;
  while (taken.records < records.size() && position_ != head) {
    const auto record = read(head);
    if (!record) {
      taken.bad_at = place_of(position_);
      taken.bad_word = word(position_);
      taken.words_left = head - position_;
      position_ = head;
      taken.is_bad = true;
      break;
    }
    records[taken.records++] = *record;
  }
  return taken;
}

// Each word of it once.
std::optional<RingRecord> RingReader::read(std::uint64_t head) {
  const auto parsed = parse(word(position_));
  if (!parsed || parsed->words > head - position_) return std::nullopt;
  RingRecord record{.id = parsed->id, .follows = parsed->follows};
  std::uint64_t at = position_ + 1;
  record.x = static_cast<std::int64_t>(word(at++));
  if ((record.follows & kRecordY) != 0) record.y = word(at++);
  if ((record.follows & (kRecordCycles | kRecordNs)) != 0) record.time = word(at++);
  position_ = at;
  return record;
}

}  // namespace tallyfs
