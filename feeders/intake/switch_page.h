// The memory of the page of switches (core/wire/FORMAT.md): a memfd that we write and feeders map.
// Sealed, so that no process with the descriptor can write the page, or shrink it under the others.
// Only those of its pages take memory that have statistics in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/model/switch.h"

namespace tallyfs {

class SwitchPage {
 public:
  // Room for so many statistics at least. kNoSpace: no descriptor or no memory; kInvalid: a kernel
  // without seals (F_SEAL_FUTURE_WRITE is of Linux 5.1).
  static Result<SwitchPage> create(std::uint64_t statistics);
  ~SwitchPage();
  SwitchPage(SwitchPage&& other) noexcept;
  SwitchPage& operator=(SwitchPage&&) = delete;

  int fd() const { return fd_.get(); }
  std::uint64_t bytes() const { return switches_.size_bytes(); }
  std::span<Switch> switches() const { return switches_; }

 private:
  SwitchPage(Fd fd, std::span<Switch> switches) : fd_(std::move(fd)), switches_(switches) {}

  Fd fd_;
  std::span<Switch> switches_;
};

}  // namespace tallyfs
