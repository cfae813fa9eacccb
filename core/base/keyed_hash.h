// The hash of names that untrusted senders choose. It has a random key in each process. So no
// sender can choose names that all fall into one place of a table and make look-ups slow.
// Thread-safe: the key is drawn before main() and never changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/int128.h"
#include "core/base/padded_name.h"

namespace tallyfs {

std::uint64_t keyed_hash(std::string_view text);

namespace detail {
extern const std::array<std::uint64_t, 4> kNameKeys;
}  // namespace detail

// Another hash, for names that are padded already: two multiplications of 64 to 128 bits, each of
// two words that secret keys were mixed into.
inline std::uint64_t keyed_hash(const PaddedName& name) {
  const auto mix = [&](std::size_t at) {
    const auto& keys = detail::kNameKeys;
    const UInt128 product =
        UInt128{name.words[at] ^ keys[at]} * (name.words[at + 1] ^ keys[at + 1]);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  return mix(0) ^ mix(2);
}

// For maps with the names themselves as keys; std::equal_to<> goes with it.
struct KeyedHash {
  using is_transparent = void;
  using is_avalanching = void;  // Boost need not mix the bits once more
  std::size_t operator()(std::string_view name) const { return keyed_hash(name); }
};

// For indexes whose users have most names padded.
struct PaddedHash {
  std::uint64_t operator()(std::string_view name) const {
    return PaddedName::fits(name) ? keyed_hash(PaddedName::of(name)) : keyed_hash(name);
  }
};

// For sets of Element* that are found by a name the element holds: Name()(element) is that name.
template <typename Element, typename Name>
struct NameHash {
  using is_transparent = void;
  using is_avalanching = void;  // Boost need not mix the bits once more
  std::size_t operator()(std::string_view name) const { return keyed_hash(name); }
  std::size_t operator()(const Element* element) const { return keyed_hash(Name()(*element)); }
};

template <typename Element, typename Name>
struct NameEqual {
  using is_transparent = void;
  static std::string_view name(std::string_view name) { return name; }
  static std::string_view name(const Element* element) { return Name()(*element); }
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return name(a) == name(b);
  }
};

}  // namespace tallyfs
