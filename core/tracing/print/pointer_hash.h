// The number that `%p` shows for an address of the kernel's while options/hash-ptr is on: 32 bits
// of the address's SipHash-2-4, as the kernel does, so that equal addresses can be told and none
// becomes known. The key is another one than the kernel's: so are the numbers. Immutable.
#pragma once

#include <cstdint>

namespace tallyfs::tracing {

class PointerHash {
 public:
  struct Key {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
  };

  explicit PointerHash(Key key) : key_(key) {}
  // With a key of its own.
  static PointerHash make_random();

  // Zero, and errors that stand in the place of an address (-1 to -4095), are shown as they are.
  std::uint64_t shown(std::uint64_t address) const;

 private:
  const Key key_;
};

// SipHash-2-4 (Aumasson and Bernstein, 2012) of a number's eight bytes, the lowest first.
std::uint64_t sip_hash(PointerHash::Key key, std::uint64_t number);

}  // namespace tallyfs::tracing
