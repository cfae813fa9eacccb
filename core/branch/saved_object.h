// Objects of a branch that outlive the daemon: which kinds there are, where save() puts them, and
// what load() is told. core/state has the file that they stand in. Values, but for the sink.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/boot.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/state/state_file.h"

namespace tallyfs {

// One list for all branches. The numbers stand in files: none changes, none is used again.
enum class SavedKind : std::uint16_t {
  kInterface = 1,  // of statistics/; the label is its name
  kRule = 2,       // one line that was written into `rules`; the label is its number
};

// What people call it: "interface".
const char* name_of(SavedKind kind);

constexpr SavedObject saved_object(SavedKind kind, std::uint16_t format, std::string_view label,
                                   std::string_view bytes) {
  return {static_cast<std::uint16_t>(kind), format, label, bytes};
}
constexpr bool is_of(const SavedObject& object, SavedKind kind) {
  return object.kind == static_cast<std::uint16_t>(kind);
}
// Of an object that another version of the daemon has saved.
Error other_format(const SavedObject& object);

// A set of kinds: bit n stands for the kind of number n.
using SavedKinds = std::uint32_t;
constexpr SavedKinds kind_bit(std::uint16_t kind) {
  return kind < 32 ? SavedKinds{1} << kind : SavedKinds{0};
}
template <typename... Kinds>
constexpr SavedKinds saved_kinds(Kinds... kinds) {
  return (kind_bit(static_cast<std::uint16_t>(kinds)) | ...);
}

// Where a branch puts its objects, one after the other, in the order in which they are to be
// loaded. No lock of the branch is held while put() is called, as it may write to a disk.
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;

  // The object's texts live until it returns. False: nothing more can be taken.
  virtual bool put(const SavedObject& object) = 0;
};

// The circumstances in which an object is loaded.
struct Loading {
  // Whether it was saved since the machine has booted: if not, its times say nothing.
  Boot boot = Boot::kThis;
  Moment now;
};

}  // namespace tallyfs
