// Samples as the text form brings them, each with its name: a batch of fixed size, so that the
// way of a sample needs no allocation. Confined to the thread that fills it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/keyed_hash.h"
#include "core/base/padded_name.h"
#include "core/model/sample.h"

namespace tallyfs {

class NamedSamples {
 public:
  static constexpr std::size_t kCapacity = 256;

  // The path's bytes must outlive the batch. There must be room.
  void push(std::string_view path, const Sample& sample) {
    const PaddedName padded = PaddedName::of(path);
    push(path, padded, PaddedName::fits(path) ? keyed_hash(padded) : keyed_hash(path), sample);
  }
  // The same of a path that fits.
  void push(std::string_view path, const PaddedName& padded, const Sample& sample) {
    push(path, padded, keyed_hash(padded), sample);
  }
  void clear() { size_ = 0; }

  bool full() const { return size_ == kCapacity; }
  std::size_t room() const { return kCapacity - size_; }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::string_view path(std::size_t i) const { return paths_[i]; }
  const PaddedName& padded(std::size_t i) const { return padded_[i]; }
  // PaddedHash of the path.
  std::uint64_t hash(std::size_t i) const { return hashes_[i]; }
  const Sample& sample(std::size_t i) const { return samples_[i]; }
  // One at i and those behind it.
  std::span<const Sample> samples(std::size_t i, std::size_t count) const {
    return std::span(samples_).subspan(i, count);
  }

 private:
  void push(std::string_view path, const PaddedName& padded, std::uint64_t hash,
            const Sample& sample) {
    paths_[size_] = path;
    padded_[size_] = padded;
    hashes_[size_] = hash;
    samples_[size_] = sample;
    ++size_;
  }

  std::size_t size_ = 0;
  std::array<std::string_view, kCapacity> paths_;
  std::array<PaddedName, kCapacity> padded_;
  std::array<std::uint64_t, kCapacity> hashes_;
  std::array<Sample, kCapacity> samples_;
};

}  // namespace tallyfs
