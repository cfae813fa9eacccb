// The daemon's page of switches (core/wire/FORMAT.md), mapped read-only. It lies at one address for
// as long as the process lives, whichever daemon's page it is, so that a thread that still looks at
// an old switch finds a switch there: wrong for a moment, as if it had looked a moment earlier.
//
// Confined to the Client's lock; any thread may read the switches themselves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs {

class Switches {
 public:
  // 1,048,576 statistics; those with higher slots have no switch here.
  static constexpr std::size_t kBytesMax = 8u << 20;

  Switches() = default;
  ~Switches();
  Switches(const Switches&) = delete;
  Switches& operator=(const Switches&) = delete;

  // Takes the place of the page before. kInvalid: no memfd that is sealed against shrinking
  // (shrinking a mapped file kills its readers), or shorter than bytes; kNoSpace: no address
  // space.
  Result<void> map(const Fd& page, std::uint64_t bytes);
  // No page is valid from now on. The mapping stays, since threads may still look at it.
  void forget() { bytes_ = 0; }

  bool has_page() const { return bytes_ != 0; }
  // The switch of a statistic; nullptr if there is none for it.
  const std::uint32_t* find(std::uint64_t number) const;
  // The page says that the statistic of this number is gone.
  bool is_void(std::uint64_t number) const;

 private:
  struct Slot {
    std::uint32_t on;
    std::uint32_t generation;
  };

  const Slot* slot(std::uint64_t number) const;

  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tallyfs
