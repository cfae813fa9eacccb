#include "feeders/statsd/series/known_series.h"

#include <cstring>
#include <new>
#include <utility>

#include "core/base/keyed_hash.h"

namespace tallyfs::statsd {

std::uint64_t KnownSeries::prefetch(std::string_view text) const {
  const std::uint64_t hash = keyed_hash(text);
  index_.prefetch(hash);
  return hash;
}

void KnownSeries::prefetch_entry(std::uint64_t hash) const {
  if (const Entry* const entry = index_.candidate(hash)) {
    __builtin_prefetch(entry);
    // Most texts end in its second line.
    __builtin_prefetch(reinterpret_cast<const std::byte*>(entry) + 64);
  }
}

void KnownSeries::prefetch_series(std::uint64_t hash) const {
  if (const Entry* const entry = index_.candidate(hash)) __builtin_prefetch(entry->series);
}

Series* KnownSeries::find(std::string_view text) const {
  const Entry* const found = index_.find(text);
  return found ? found->series : nullptr;
}

void KnownSeries::add(std::string_view text, Series* series) {
  if (memory_.size() == kTextsMax) {
    index_ = {};
    memory_.clear();
  }
  auto memory = std::make_unique<std::byte[]>(sizeof(Entry) + text.size());
  auto* const entry = new (memory.get()) Entry{series, text.size()};
  std::memcpy(memory.get() + sizeof(Entry), text.data(), text.size());
  index_.insert(*entry);
  memory_.push_back(std::move(memory));
}

}  // namespace tallyfs::statsd
