// The hash of names that untrusted senders choose. It has a random key in each process. So no
// sender can choose names that all fall into one place of a table and make look-ups slow.
// Thread-safe: the key is drawn before main() and never changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tallyfs {

std::uint64_t keyed_hash(std::string_view text);

// For maps with the names themselves as keys; std::equal_to<> goes with it.
struct KeyedHash {
  using is_transparent = void;
  using is_avalanching = void;  // Boost need not mix the bits once more
  std::size_t operator()(std::string_view name) const { return keyed_hash(name); }
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
