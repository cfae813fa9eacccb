// The percentiles that a statistic shows: `quantiles=50,90,99,99.9`, 1 to 16 ascending numbers
// between 0 and 100 with at most 4 decimals, shown as they were given.
//
// An immutable value of the size of a pointer: each Definition has room for one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tallyfs {

class QuantileList {
 public:
  static constexpr std::size_t kBound = 16;

  // Shows nothing: of a definition whose type has no percentiles.
  QuantileList() = default;
  QuantileList(const QuantileList& other)
      : content_(other.content_ ? std::make_unique<Content>(*other.content_) : nullptr) {}
  QuantileList(QuantileList&&) noexcept = default;
  QuantileList& operator=(QuantileList other) noexcept {
    content_ = std::move(other.content_);
    return *this;
  }

  // Returns nullopt if the text is not such a list.
  static std::optional<QuantileList> parse(std::string_view text);

  std::size_t size() const { return content_ ? content_->size : 0; }
  bool empty() const { return size() == 0; }
  // As it was given.
  std::string_view text() const { return content_ ? content_->text : std::string_view(); }
  // i < size(): the number as it was given, and in ten thousandths of a percent.
  std::string_view label(std::size_t i) const {
    return text().substr(content_->label_at[i], content_->label_bytes[i]);
  }
  std::uint32_t millionths(std::size_t i) const { return content_->millionths[i]; }

  // i < size(): without zeros that say nothing, as JSON has numbers.
  std::string number(std::size_t i) const;

  bool operator==(const QuantileList& other) const { return text() == other.text(); }

 private:
  struct Content {
    std::string text;
    std::size_t size = 0;
    std::array<std::uint32_t, kBound> millionths{};
    std::array<std::uint8_t, kBound> label_at{};
    std::array<std::uint8_t, kBound> label_bytes{};
  };

  std::unique_ptr<Content> content_;

 public:
  // Heap of a list.
  static constexpr std::size_t kBytesMax = sizeof(Content) + 128;
};

}  // namespace tallyfs
