// Samples as the text form brings them, each with its name: a batch of fixed size, so that the
// way of a sample needs no allocation. A name that comes again in a batch is recognized, so that it
// is hashed and looked up once. Where names hardly come again, that is tried in few batches only.
// Confined to the thread that fills it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/keyed_hash.h"
#include "core/base/padded_name.h"
#include "core/model/sample.h"
#include "core/wire/byte_blocks.h"

namespace tallyfs {

class NamedSamples {
 public:
  static constexpr std::size_t kCapacity = 256;

  struct Name {
    PaddedName padded;  // all zeros: it cannot be padded
    std::string_view path;
    std::uint64_t hash;  // PaddedHash of the path
    std::size_t samples;
  };

  // A sample whose X has a point: its place in the batch, and X as it was sent.
  struct Decimal {
    std::size_t index = 0;
    std::string_view text;
  };

  // The path's bytes must outlive the batch, and so must those of X. There must be room.
  void push_decimal(std::string_view path, std::string_view x, const Sample& sample) {
    decimals_.push_back({size_, x});
    push(path, sample);
  }
  void push(std::string_view path, const Sample& sample) {
    push(find_or_enter(path), path, sample);
  }
  // push() in two steps: find() or enter() the name, and then push the sample. find() returns the
  // index of a name that fits and is not empty, or kUnknown.
  static constexpr std::size_t kUnknown = kCapacity;
  std::size_t find(const PaddedName& padded) const {
    if (!recognizes_) return kUnknown;
    // Most feeders send their names in the same order again and again.
    const std::size_t next = next_[last_];
    if (is_at(next, padded)) return next;
    const std::size_t name = seen_[home_of(padded)];
    return is_at(name, padded) ? name : kUnknown;
  }
  std::size_t enter(std::string_view path, const PaddedName& padded) {
    const std::size_t name = enter(path, padded, keyed_hash(padded));
    if (recognizes_) seen_[home_of(padded)] = static_cast<std::uint16_t>(name);
    return name;
  }
  void push(std::size_t name, std::string_view path, const Sample& sample) {
    next_[last_] = static_cast<std::uint16_t>(name);
    last_ = name;
    name_of_[size_] = static_cast<std::uint16_t>(name);
    begins_[size_] = path.data();
    samples_[size_] = sample;
    names_[name].samples += 1;
    ++size_;
  }
  void clear() {
    if (size_ >= kLooked) {
      recognizes_ = 2 * names_size_ <= size_ || ++batches_of_many_ % kTryEach == 0;
    }
    size_ = names_size_ = 0;
    last_ = kCapacity;
    decimals_.clear();
  }

  bool full() const { return size_ == kCapacity; }
  std::size_t room() const { return kCapacity - size_; }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  // The names of all samples, in the order of their arrival. A name may be in it several times,
  // each time for other samples.
  std::span<const Name> names() const { return std::span(names_).first(names_size_); }
  // The index in names() of a sample's name.
  std::size_t name_of(std::size_t i) const { return name_of_[i]; }
  std::string_view path(std::size_t i) const {
    return {begins_[i], names_[name_of_[i]].path.size()};
  }
  const Sample& sample(std::size_t i) const { return samples_[i]; }
  // The samples whose X has to be set by set_x(), in ascending order.
  std::span<const Decimal> decimals() const { return decimals_; }
  void set_x(std::size_t i, std::int64_t x) { samples_[i].x = x; }
  // `count` samples, from i on.
  std::span<const Sample> samples(std::size_t i, std::size_t count) const {
    return std::span(samples_).subspan(i, count);
  }

 private:
  static constexpr unsigned kHomeBits = 10;
  // Smaller batches do not show whether names repeat.
  static constexpr std::size_t kLooked = 32;
  static constexpr unsigned kTryEach = 16;

  // Has no key: names that share a home are entered several times, which costs a look-up each.
  static std::size_t home_of(const PaddedName& name) {
    const auto& words = name.words;
    const std::uint64_t mixed = (words[0] ^ words[2]) * 0x9E37'79B9'7F4A'7C15 +
                                (words[1] ^ words[3]) * 0xD1B5'4A32'D192'ED03;
    return mixed >> (64 - kHomeBits);
  }
  bool is_at(std::size_t name, const PaddedName& padded) const {
    // Without a branch on the first, which nothing could guess.
    return (name < names_size_) & wire::are_same(names_[name].padded, padded);
  }
  std::size_t find_or_enter(std::string_view path) {
    // Padded, a name that ends with a 0 would be that of another.
    if (!PaddedName::fits(path) || path.ends_with('\0')) {
      return enter(path, PaddedName{}, PaddedHash()(path));
    }
    const PaddedName padded = PaddedName::of(path);
    const std::size_t known = find(padded);
    return known != kUnknown ? known : enter(path, padded);
  }
  std::size_t enter(std::string_view path, const PaddedName& padded, std::uint64_t hash) {
    names_[names_size_] = {.padded = padded, .path = path, .hash = hash, .samples = 0};
    return names_size_++;
  }

  std::size_t size_ = 0;
  std::size_t names_size_ = 0;
  // The last name that was entered with a home, in this batch or an earlier one; indexed by home.
  std::array<std::uint16_t, std::size_t{1} << kHomeBits> seen_{};
  bool recognizes_ = true;
  unsigned batches_of_many_ = 0;  // names
  std::size_t last_ = kCapacity;
  // The name that followed a name last time; indexed by name, and by kCapacity for a batch's start.
  std::array<std::uint16_t, kCapacity + 1> next_{};
  std::array<Name, kCapacity> names_{};
  std::array<std::uint16_t, kCapacity> name_of_;
  std::array<const char*, kCapacity> begins_;
  std::array<Sample, kCapacity> samples_;
  std::vector<Decimal> decimals_;  // keeps its memory
};

}  // namespace tallyfs
