// Samples as the text form brings them, each with its name: a batch of fixed size, so that the
// way of a sample needs no allocation. Confined to the thread that fills it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "core/model/sample.h"

namespace tallyfs {

class NamedSamples {
 public:
  static constexpr std::size_t kCapacity = 256;

  // The path's bytes must outlive the batch. There must be room.
  void push(std::string_view path, const Sample& sample) {
    paths_[size_] = path;
    samples_[size_] = sample;
    ++size_;
  }
  void clear() { size_ = 0; }

  bool full() const { return size_ == kCapacity; }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::string_view path(std::size_t i) const { return paths_[i]; }
  // One at i and those behind it.
  std::span<const Sample> samples(std::size_t i, std::size_t count) const {
    return std::span(samples_).subspan(i, count);
  }

 private:
  std::size_t size_ = 0;
  std::array<std::string_view, kCapacity> paths_;
  std::array<Sample, kCapacity> samples_;
};

}  // namespace tallyfs
