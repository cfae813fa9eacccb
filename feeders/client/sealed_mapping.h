// A page of the daemon's (core/wire/FORMAT.md), mapped read-only. It lies in one of two places, in
// turns, which stay mapped for as long as the process lives. So a thread that was interrupted
// between finding its entry and reading it sees what the daemon before said last, as if it had
// looked a moment earlier, and not the entry of another statistic in the next daemon's page.
//
// Confined to the Client's lock; any thread may read what is in the page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs {

// Sealed against shrinking, which would kill the readers of a mapped file.
bool is_sealed(const Fd& memory);

class SealedMapping {
 public:
  // bytes_max: what is mapped of a page at most, and the address space that each place takes.
  explicit SealedMapping(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  ~SealedMapping();
  SealedMapping(const SealedMapping&) = delete;
  SealedMapping& operator=(const SealedMapping&) = delete;

  // Takes the place of the page before the last one. kInvalid: no memfd that is sealed, or shorter
  // than bytes; kNoSpace: no address space. what: "switches".
  Result<void> map(const Fd& page, std::uint64_t bytes, const char* what);
  // No page is valid from now on. The mapping stays, since threads may still look at it.
  void forget() { bytes_ = 0; }
  bool has_page() const { return bytes_ != 0; }

  // The entry of a statistic's number; nullptr if there is none for it.
  template <typename Entry>
  const Entry* find(std::uint64_t number) const {
    const auto index = static_cast<std::uint32_t>(number);
    if ((std::size_t{index} + 1) * sizeof(Entry) > bytes_) return nullptr;
    return static_cast<const Entry*>(places_[current_]) + index;
  }

 private:
  const std::size_t bytes_max_;
  std::array<void*, 2> places_{};
  std::size_t current_ = 0;  // of the places
  std::size_t bytes_ = 0;
};

}  // namespace tallyfs
