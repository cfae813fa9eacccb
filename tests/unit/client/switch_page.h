// A page of switches as a daemon makes it (core/wire/FORMAT.md).
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "core/base/fd.h"

namespace tallyfs {

class SwitchPage {
 public:
  enum class Sealed { kYes, kNo };

  explicit SwitchPage(std::size_t bytes, Sealed sealed = Sealed::kYes)
      : bytes_(bytes), fd_(::memfd_create("switches", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    EXPECT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(bytes)), 0);
    address_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    EXPECT_NE(address_, MAP_FAILED);
    if (sealed == Sealed::kNo) return;
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE;
    EXPECT_EQ(::fcntl(fd_.get(), F_ADD_SEALS, seals), 0);
  }
  ~SwitchPage() { ::munmap(address_, bytes_); }
  SwitchPage(const SwitchPage&) = delete;
  SwitchPage& operator=(const SwitchPage&) = delete;

  void set(std::uint32_t slot, std::uint32_t generation, std::uint32_t on) {
    auto* const entry = static_cast<std::uint32_t*>(address_) + 2 * std::size_t{slot};
    __atomic_store_n(entry + 1, generation, __ATOMIC_RELAXED);
    __atomic_store_n(entry, on, __ATOMIC_RELAXED);
  }
  const Fd& fd() const { return fd_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  Fd fd_;
  void* address_ = nullptr;
};

}  // namespace tallyfs
