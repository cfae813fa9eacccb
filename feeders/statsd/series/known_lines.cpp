#include "feeders/statsd/series/known_lines.h"

#include <cstring>
#include <new>

namespace tallyfs::statsd {
namespace {

// Where lines begin: two lines of a CPU's cache hold each one of up to 96 bytes.
constexpr std::size_t kAlignment = 32;

}  // namespace

void KnownLines::add(const LineKey& key, const KnownLine& line) {
  const std::size_t text_bytes = key.name.size() + key.rest.size();
  const std::uint64_t hash = hash_of(key);
  if (text_bytes > kTextBytesMax) return;
  if (KnownLine* const known = index_.find(key, hash)) return put(*known, key, line);
  const std::size_t bytes =
      (sizeof(KnownLine) + text_bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (is_full()) return;
  if (used_ + bytes > kPieceBytes) {
    pieces_.push_back(std::make_unique_for_overwrite<std::byte[]>(kPieceBytes));
    // The first one begins at a multiple, too.
    const auto at = reinterpret_cast<std::uintptr_t>(pieces_.back().get());
    used_ = (kAlignment - at % kAlignment) % kAlignment;
  }
  std::byte* const memory = pieces_.back().get() + used_;
  used_ += bytes;
  auto* const known = new (memory) KnownLine();
  char* const text = reinterpret_cast<char*>(known + 1);
  std::memcpy(text, key.name.data(), key.name.size());
  std::memcpy(text + key.name.size(), key.rest.data(), key.rest.size());
  put(*known, key, line);
  index_.insert(*known, hash);
}

void KnownLines::put(KnownLine& known, const LineKey& key, const KnownLine& line) {
  known = line;
  known.name_bytes = static_cast<std::uint16_t>(key.name.size());
  known.rest_bytes = static_cast<std::uint16_t>(key.rest.size());
}

void KnownLines::make_room() {
  if (is_full()) clear();
}

void KnownLines::clear() {
  index_ = {};
  pieces_.clear();
  used_ = kPieceBytes;
}

}  // namespace tallyfs::statsd
