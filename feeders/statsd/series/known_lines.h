// Lines by what senders wrote beside the values: the name, and the type with all behind it. Senders
// repeat these bytes in each sample of a series, so a line that was seen before is not taken apart
// again, and its tags are not sorted again.
//
// A look-up in a large table waits for memory at each of its steps. Here each step can be done for
// many lines before the next step, so that the waits overlap: hash_of() and prefetch(), then
// prefetch_line(), then find().
//
// Bounds: 131,072 lines, 512 bytes of each, 16 MiB in all. Confined to one thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/keyed_hash.h"
#include "core/base/name_index.h"
#include "core/base/text.h"
#include "feeders/statsd/grammar/metric_line.h"
#include "feeders/statsd/series/outlet.h"

namespace tallyfs::statsd {

class Series;

// name: without its ':'; rest: from the '|' behind the values on.
struct LineKey {
  std::string_view name;
  std::string_view rest;
};

// The meaning of a line's rest. The texts follow it in memory.
struct KnownLine {
  Series* series = nullptr;
  Outlet::Id id = 0;  // the series's, to fetch both at once
  Weight weight{};
  Kind kind = Kind::kCounter;
  bool is_from_datadog = false;
  std::uint16_t name_bytes = 0;
  std::uint16_t rest_bytes = 0;

  std::string_view name() const { return {text(), name_bytes}; }
  std::string_view rest() const { return {text() + name_bytes, rest_bytes}; }
  const char* text() const { return reinterpret_cast<const char*>(this + 1); }
};

class KnownLines {
 public:
  static constexpr std::size_t kLinesMax = 131'072;
  static constexpr std::size_t kTextBytesMax = 512;
  static constexpr std::size_t kPieceBytes = 256 << 10;
  static constexpr std::size_t kPiecesMax = 64;

  static std::uint64_t hash_of(const LineKey& key) {
    // The two texts exchanged have another hash.
    return std::rotl(keyed_hash(key.name), 1) ^ keyed_hash(key.rest);
  }
  void prefetch(std::uint64_t hash) const { index_.prefetch(hash); }
  void prefetch_line(std::uint64_t hash) const {
    if (const KnownLine* const line = index_.candidate(hash)) {
      __builtin_prefetch(line);
      // Most texts end in its second cache line.
      __builtin_prefetch(reinterpret_cast<const std::byte*>(line) + 64);
    }
  }
  // nullptr: the line is not known.
  const KnownLine* find(const LineKey& key, std::uint64_t hash) const {
    return index_.find(key, hash);
  }

  // Remembers it, unless it has too long a text, or there is no room. What is known of the key
  // already is replaced.
  void add(const LineKey& key, const KnownLine& line);
  // Forgets all lines if there is no room for another one. Ends the life of what find() returned.
  void make_room();
  // Forgets all lines; likewise.
  void clear();

 private:
  struct Naming {
    static bool is_named(const KnownLine& line, const LineKey& key) {
      return is_same(line.rest(), key.rest) && is_same(line.name(), key.name);
    }
  };

  // All but the texts.
  static void put(KnownLine& known, const LineKey& key, const KnownLine& line);
  bool is_full() const { return index_.size() == kLinesMax || pieces_.size() == kPiecesMax; }

  NameIndex<KnownLine, Naming> index_;
  std::vector<std::unique_ptr<std::byte[]>> pieces_;  // of memory: lines stand in their order
  std::size_t used_ = kPieceBytes;                    // of the last one
};

}  // namespace tallyfs::statsd
