#include "feeders/statsd/series/known_series.h"

#include <cstring>
#include <new>
#include <utility>

namespace tallyfs::statsd {

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
