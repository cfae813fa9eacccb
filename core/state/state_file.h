// A state file as bytes: what a daemon keeps across its restarts, object by object (FORMAT.md).
// Each object has a kind, a format number and checksums of its own, so that what is whole in a
// broken file can be told from what is not. The room knows nothing of what objects contain.
//
// Pure functions and values, confined to their holder. Reading takes no memory but the list of
// objects, which point into the bytes; its time is linear in the bytes, whatever they are.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/boot.h"
#include "core/base/clock.h"
#include "core/base/result.h"

namespace tallyfs {

struct StateHeader {
  BootId boot{};
  Timestamp saved;
};

struct SavedObject {
  std::uint16_t kind = 0;    // from 1 on; 0 is the end mark's
  std::uint16_t format = 0;  // of the contents
  std::string_view label;    // which of its kind, for people too; at most kLabelBytesMax
  std::string_view bytes;    // the contents
};

// A set of kinds: bit n stands for the kind of number n, which is below 64.
using KindBits = std::uint64_t;

// Which object of a name, and how often it has changed. The larger one is the newer one.
struct ObjectVersion {
  std::uint64_t object = 0;
  std::uint64_t changes = 0;

  auto operator<=>(const ObjectVersion&) const = default;
};

inline constexpr std::size_t kLabelBytesMax = 1024;
// The bytes of one object: more do not fit into its head.
inline constexpr std::size_t kObjectBytesMax = 0xffff'ffff;

// Appends a file to a string, from which the owner may take what is there at any time.
class StateWriter {
 public:
  // Begins a file. out outlives the writer.
  StateWriter(const StateHeader& header, std::string& out);

  // Writes the head of an object's contents, which the caller appends as they are.
  void begin_object(const SavedObject& object);
  // The end mark.
  void end();

  std::uint64_t objects() const { return objects_; }

 private:
  void append_head(const SavedObject& object);

  std::string& out_;
  std::uint32_t file_ = 0;
  std::uint64_t objects_ = 0;
};

// The objects of a file that are whole, in its order, and a line of text for each thing that is
// not.
struct StateFile {
  StateHeader header;
  std::vector<SavedObject> objects;
  std::vector<std::string> faults;

  bool is_whole() const { return faults.empty(); }
};

// The objects point into the bytes. kInvalid: no state file, or one of another format, or its
// header is broken.
Result<StateFile> read_state(std::string_view bytes);

}  // namespace tallyfs
