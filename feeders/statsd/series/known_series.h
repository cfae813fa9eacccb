// Series by what senders wrote, so that a text that was seen before is not taken apart again. Slots
// have the hash, and a text stands beside the pointer to its series: a look-up waits for memory
// twice. At most 32,768 texts of 512 bytes or less; then all are forgotten. Confined to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/name_index.h"
#include "core/base/text.h"

namespace tallyfs::statsd {

class Series;

class KnownSeries {
 public:
  static constexpr std::size_t kTextsMax = 32'768;
  static constexpr std::size_t kTextBytesMax = 512;

  // The three steps of a look-up that is done later, each for many texts before the next: so they
  // wait for memory together. They return or take the text's hash.
  std::uint64_t prefetch(std::string_view text) const;
  void prefetch_entry(std::uint64_t hash) const;
  void prefetch_series(std::uint64_t hash) const;

  // nullptr: the text is not known.
  Series* find(std::string_view text) const;
  // The text must not be known, and not be longer than kTextBytesMax.
  void add(std::string_view text, Series* series);

 private:
  // The text follows it in memory.
  struct Entry {
    Series* series = nullptr;
    std::size_t bytes = 0;
    std::string_view text() const { return {reinterpret_cast<const char*>(this + 1), bytes}; }
  };
  struct Naming {
    static std::string name(const Entry& entry) { return std::string(entry.text()); }
    static bool is_named(const Entry& entry, std::string_view text) {
      return is_same(entry.text(), text);
    }
  };

  NameIndex<Entry, Naming> index_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
};

}  // namespace tallyfs::statsd
