// How a memory of objects is laid out (FORMAT.md), and what is written into it. Pure functions and
// values, but for write_at().
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/crc32c.h"
#include "core/base/result.h"
#include "core/state/state_file.h"
#include "fs/store/extents.h"
#include "fs/store/object_store.h"

namespace tallyfs {

inline constexpr std::uint64_t kEntriesAt = 4096;
inline constexpr std::uint64_t kEntryBytes = 64;
inline constexpr std::uint64_t kObjectsAt = kEntriesAt + ObjectStore::kObjectsMax * kEntryBytes;

// One of the two halves of an entry. A number of 0: it was never written.
struct EntryHalf {
  std::uint64_t number = 0;
  std::uint64_t order = 0;
  std::uint32_t unit = 0;     // where the object begins, in Extents::kUnit
  std::uint32_t size = 0;     // 0: there is no object
  std::uint32_t content = 0;  // the checksum of the object
  std::uint32_t checksum = 0;

  std::uint32_t expected_checksum() const {
    return crc32c({reinterpret_cast<const char*>(this), offsetof(EntryHalf, checksum)});
  }
  std::uint64_t offset() const { return std::uint64_t{unit} * Extents::kUnit; }
};
static_assert(2 * sizeof(EntryHalf) == kEntryBytes);

// The first bytes of the memory.
std::string store_header();
// The bytes before the contents of an object.
std::string head_of(const SavedObject& object, std::uint16_t occurrence);
// The name of an object among all: kind, occurrence and label.
std::string name_of(std::uint16_t kind, std::string_view label, std::uint16_t occurrence = 0);
std::uint16_t kind_of(std::string_view name);
std::string_view label_of(std::string_view name);
// Of the label of a part, that of its whole.
std::string_view whole_of(std::string_view label);
std::uint64_t hash_of(const SavedObject& object);

// kNoSpace, with the system's reason.
Error no_space(const char* what);
// Writes the pieces one after the other, and changes their list. kNoSpace.
Result<void> write_at(int memory, std::uint64_t offset, std::span<iovec> pieces);
Result<void> write_at(int memory, std::uint64_t offset, std::string_view bytes);
iovec piece_of(std::string_view text);

}  // namespace tallyfs
