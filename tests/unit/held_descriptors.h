// Descriptors that a test holds as the keeper does. Confined to a test.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "core/branch/transferred_part.h"

namespace tallyfs {

class HeldDescriptors final : public TransferredFds::Holder {
 public:
  Result<void> hold(std::uint32_t number, int fd) override {
    held_.emplace(number, Fd(::dup(fd)));
    return {};
  }
  std::size_t most() const override { return most_; }
  Result<void> keep_only(std::span<const std::uint32_t> numbers) override {
    times_kept_ += 1;
    std::erase_if(held_, [&](const auto& each) {
      return std::ranges::find(numbers, each.first) == numbers.end();
    });
    return {};
  }

  std::size_t size() const { return held_.size(); }
  bool has(std::uint32_t number) const { return held_.contains(number); }
  // How often all were gone over.
  std::size_t times_kept() const { return times_kept_; }
  void allow(std::size_t most) { most_ = most; }
  // It is lost.
  void lose(std::uint32_t number) { held_.erase(number); }
  // What the next server gets.
  TransferredFds::Received received() const {
    TransferredFds::Received all;
    for (const auto& [number, fd] : held_) all.emplace_back(number, Fd(::dup(fd.get())));
    return all;
  }

 private:
  std::size_t most_ = SIZE_MAX;
  std::size_t times_kept_ = 0;
  std::map<std::uint32_t, Fd> held_;
};

}  // namespace tallyfs
