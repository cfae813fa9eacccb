// What the fuzz targets share: the input as bytes to be drawn from, and must(), which ends the
// program where a promise is broken. Confined to the one thread of a target.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tallyfs::fuzz {

// libFuzzer takes an abort for a finding and keeps the input.
inline void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// Calls take(line) for each line of a text that ends with one.
template <typename Take>
void each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    take(line);
  }
}

// How many lines or requests all inputs came to, printed at the end beside libFuzzer's
// own figures: an input of one line and one of a hundred are both one to libFuzzer.
class Steps {
 public:
  static void add(std::size_t count) {
    static Steps steps;
    steps.count_ += count;
  }
  ~Steps() { std::fprintf(stderr, "stat::steps: %zu\n", count_); }

 private:
  std::size_t count_ = 0;
};

class Input {
 public:
  Input(const std::uint8_t* bytes, std::size_t size)
      : rest_(reinterpret_cast<const char*>(bytes), size) {}

  bool empty() const { return rest_.empty(); }
  // Zeros behind the end.
  std::uint8_t byte() {
    const std::string_view taken = text(1);
    return taken.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(taken[0]);
  }
  std::uint64_t number(unsigned bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  // As many as there are, at most.
  std::string_view text(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  // Up to the separator, which is taken too.
  std::string_view until(char separator) {
    const std::string_view taken = text(rest_.find(separator));
    (void)text(1);
    return taken;
  }
  std::string_view rest() { return text(rest_.size()); }

 private:
  std::string_view rest_;
};

}  // namespace tallyfs::fuzz
