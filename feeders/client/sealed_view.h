// A page of the daemon's (core/wire/FORMAT.md), mapped read-only. It lies at one address for as
// long as the process lives, whichever daemon's page it is, so that a thread that still looks at an
// old entry finds an entry there: wrong for a moment, as if it had looked a moment earlier.
//
// Confined to the Client's lock; any thread may read what is in the page.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs {

// Sealed against shrinking, which would kill the readers of a mapped file.
bool is_sealed(const Fd& memory);

class SealedView {
 public:
  // bytes_max: what is mapped of a page at most, and the address space that it takes.
  explicit SealedView(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  ~SealedView();
  SealedView(const SealedView&) = delete;
  SealedView& operator=(const SealedView&) = delete;

  // Takes the place of the page before. kInvalid: no memfd that is sealed, or shorter than bytes;
  // kNoSpace: no address space. what: "switches".
  Result<void> map(const Fd& page, std::uint64_t bytes, const char* what);
  // No page is valid from now on. The mapping stays, since threads may still look at it.
  void forget() { bytes_ = 0; }
  bool has_page() const { return bytes_ != 0; }

  // The entry of a statistic's number; nullptr if there is none for it.
  template <typename Entry>
  const Entry* find(std::uint64_t number) const {
    const auto index = static_cast<std::uint32_t>(number);
    if ((std::size_t{index} + 1) * sizeof(Entry) > bytes_) return nullptr;
    return static_cast<const Entry*>(address_) + index;
  }

 private:
  const std::size_t bytes_max_;
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tallyfs
