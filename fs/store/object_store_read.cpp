// Reads a memory into a store that is made of it.
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/bytes.h"
#include "fs/store/object_layout.h"

namespace tallyfs {
namespace {

class Mapping {
 public:
  Mapping(void* memory, std::size_t size) : memory_(memory), size_(size) {}
  ~Mapping() { ::munmap(memory_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

 private:
  void* const memory_;
  const std::size_t size_;
};

}  // namespace

class ObjectStore::Reader {
 public:
  Reader(std::string_view bytes, ObjectStore& store, Contents& contents)
      : bytes_(bytes), store_(store), contents_(contents) {}

  Result<void> read() EXCLUDES(store_.mutex_) {
    const MutexLock lock(store_.mutex_);
    const std::uint64_t fit = (std::min(bytes_.size(), kObjectsAt) - kEntriesAt) / kEntryBytes;
    for (std::uint32_t entry = 0; entry < fit; ++entry) {
      if (!read_entry(entry)) break;
      store_.entries_ = entry + 1;
    }
    std::ranges::sort(found_, {}, [](const Found& each) { return each.item.order; });
    for (Found& each : found_) enter(each);
    if (auto done = free_rest(); !done) return done;
    if (store_.part_kinds_.part != 0) store_.remove_lost_parts(contents_);
    return {};
  }

 private:
  struct Found {
    SavedObject object;
    std::uint16_t occurrence = 0;
    Item item;
  };

  std::array<EntryHalf, 2> halves_of(std::uint32_t entry) const {
    std::array<EntryHalf, 2> halves;
    std::memcpy(halves.data(), bytes_.data() + kEntriesAt + entry * kEntryBytes, sizeof halves);
    return halves;
  }

  // False: neither this entry nor a later one was ever written.
  bool read_entry(std::uint32_t entry) REQUIRES(store_.mutex_) {
    if (bytes_.substr(kEntriesAt + entry * kEntryBytes, kEntryBytes).find_first_not_of('\0') ==
        std::string_view::npos) {
      return false;
    }
    const auto halves = halves_of(entry);
    const std::uint32_t newer = halves[1].number > halves[0].number ? 1 : 0;
    if (!take(entry, newer, halves[newer]) && !take_older(entry, newer ^ 1, halves[newer ^ 1])) {
      contents_.faults.push_back("an object of the memory is not whole");
      store_.free_entries_.push_back({entry, newer});
    }
    return true;
  }

  bool take_older(std::uint32_t entry, std::uint32_t slot, const EntryHalf& from)
      REQUIRES(store_.mutex_) {
    if (from.number == 0 || !take(entry, slot, from)) return false;
    contents_.faults.push_back("the newest version of an object is not whole: an older one counts");
    return true;
  }

  // False: it is not whole.
  bool take(std::uint32_t entry, std::uint32_t slot, const EntryHalf& from)
      REQUIRES(store_.mutex_) {
    if (from.checksum != from.expected_checksum()) return false;
    store_.number_ = std::max(store_.number_, from.number);
    if (from.size == 0) {
      store_.free_entries_.push_back({entry, slot});
      return true;
    }
    const std::uint64_t offset = from.offset();
    if (offset < kObjectsAt || offset > bytes_.size() || from.size > bytes_.size() - offset) {
      return false;
    }
    const std::string_view all = bytes_.substr(offset, from.size);
    if (crc32c(all) != from.content) return false;
    Found found;
    ByteReader in(all);
    found.object.kind = in.get<std::uint16_t>();
    found.object.format = in.get<std::uint16_t>();
    found.occurrence = in.get<std::uint16_t>();
    found.object.label = in.take(in.get<std::uint16_t>());
    found.object.bytes = in.take(in.left());
    if (!in.ok() || found.object.kind >= kKindsMax) return false;
    found.item = {.entry = entry,
                  .slot = slot,
                  .order = from.order,
                  .unit = from.unit,
                  .size = from.size,
                  .checksum = from.content,
                  .seen = 0,
                  .content_hash = hash_of(found.object),
                  .version = {}};
    found_.push_back(std::move(found));
    return true;
  }

  void enter(Found& found) REQUIRES(store_.mutex_) {
    const std::string name = name_of(found.object.kind, found.object.label, found.occurrence);
    if (!store_.items_[found.object.kind].emplace(name, found.item).second) return;
    store_.set_order(found.item, found.item.order);
    if (found.object.kind == store_.part_kinds_.part) {
      store_.note_part(whole_of(found.object.label), {name, found.item.size, {}});
    }
    contents_.objects.push_back(found.object);
  }

  // kInvalid: two objects have one place.
  Result<void> free_rest() REQUIRES(store_.mutex_) {
    std::vector<Extent> used;
    for (const Found& each : found_) used.push_back(each.item.extent());
    std::ranges::sort(used, {}, &Extent::offset);
    std::uint64_t end = kObjectsAt;
    for (const Extent& each : used) {
      if (each.offset < end) return Error{ErrorCode::kInvalid, "two objects have one place"};
      const std::uint64_t size = Extents::rounded(each.size);
      (void)store_.extents_.take(each.offset - end + size);
      if (each.offset > end) free_.push_back({end, each.offset - end});
      end = each.offset + size;
    }
    for (const Extent& each : free_) (void)store_.extents_.give(each);
    return {};
  }

  const std::string_view bytes_;
  ObjectStore& store_;
  Contents& contents_;
  std::vector<Found> found_;
  std::vector<Extent> free_;
};

Result<ObjectStore::Opened> ObjectStore::open(int memory, PartKinds kinds) {
  struct stat status {};
  if (::fstat(memory, &status) != 0) return no_space("look at the memory of the keeper");
  if (status.st_size == 0) {
    auto made = format(memory, kinds);
    if (!made) return made.error();
    return Opened{std::move(made.value()), {}};
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, memory, 0);
  if (mapped == MAP_FAILED) return no_space("map the memory of the keeper");
  Opened opened{std::unique_ptr<ObjectStore>(new ObjectStore(memory, kinds)), {}};
  opened.contents.mapping = std::make_shared<const Mapping>(mapped, size);
  const std::string_view bytes(static_cast<const char*>(mapped), size);
  if (size < kEntriesAt || bytes.substr(0, store_header().size()) != store_header()) {
    return Error{ErrorCode::kInvalid, "this is no memory of objects that this version knows"};
  }
  Reader reader(bytes, *opened.store, opened.contents);
  if (auto done = reader.read(); !done) return done.error();
  return opened;
}

}  // namespace tallyfs
