#include "fs/store/object_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "fs/store/object_layout.h"

namespace tallyfs {
namespace {

// How far apart objects are in the order that came one after the other, or were put between others.
constexpr std::uint64_t kOrderStep = std::uint64_t{1} << 32;
constexpr std::uint64_t kOrderBetween = 1 << 16;
// The order of kinds that come in other sets does not matter: each set has a range of its own.
constexpr unsigned kOrderBits = 56;

constexpr std::uint64_t order_begin(KindBits kinds) {
  return static_cast<std::uint64_t>(std::countr_zero(kinds)) << kOrderBits;
}
constexpr std::uint64_t order_end(std::uint64_t order) {
  return ((order >> kOrderBits) + 1) << kOrderBits;
}
// In so many bytes, pages are given back to the system.
constexpr std::uint64_t kBlockBytes = 1 << 16;

// How many void parts go with each new one, and how many at the end of a run under one hold of the
// lock.
constexpr int kVoidWithEach = 2;
constexpr int kVoidAtOnce = 128;

constexpr bool is_of(KindBits kinds, std::uint16_t kind) {
  return kind < 64 && ((kinds >> kind) & 1) != 0;
}

}  // namespace

ObjectStore::ObjectStore(int memory, PartKinds kinds)
    : memory_(memory), part_kinds_(kinds), extents_(kObjectsAt) {}

Result<std::unique_ptr<ObjectStore>> ObjectStore::format(int memory, PartKinds kinds) {
  if (::ftruncate(memory, 0) != 0 || ::ftruncate(memory, kEntriesAt) != 0) {
    return no_space("empty the memory of the keeper");
  }
  if (auto done = write_at(memory, 0, store_header()); !done) return done.error();
  return std::unique_ptr<ObjectStore>(new ObjectStore(memory, kinds));
}

// ---- runs

ObjectStore::Pass::Pass(ObjectStore& store, KindBits kinds)
    : store_(store), kinds_(kinds), number_(store.begin_pass(kinds)), after_(order_begin(kinds)) {}

ObjectStore::Pass::~Pass() { store_.end_pass(); }

std::uint32_t ObjectStore::begin_pass(KindBits kinds) {
  const MutexLock lock(mutex_);
  under_way_ += 1;
  passed_ |= kinds;
  return ++passes_;
}

void ObjectStore::end_pass() {
  const MutexLock lock(mutex_);
  if (--under_way_ != 0) return;
  removed_.clear();
  passed_ = 0;
}

bool ObjectStore::Pass::wants(std::uint16_t kind, std::string_view label,
                              const ObjectVersion& version) {
  const std::string name = name_of(kind, label);
  const MutexLock lock(store_.mutex_);
  const auto found = store_.items_[kind].find(name);
  if (found == store_.items_[kind].end()) {
    version_ = version;
    return !store_.is_removed(name, number_);
  }
  Item& item = found->second;
  if (item.version < version) {
    version_ = version;
    return true;
  }
  item.seen = std::max(item.seen, number_);
  after_ = std::max(after_, item.order);
  return false;
}

bool ObjectStore::Pass::keep(std::uint16_t kind, std::string_view label, std::uint64_t object) {
  const std::string name = name_of(kind, label, occurrences_[name_of(kind, label)]);
  const MutexLock lock(store_.mutex_);
  const auto found = store_.items_[kind].find(name);
  const bool is_there = found != store_.items_[kind].end();
  if (!is_there || found->second.version.object != object) return false;
  ++occurrences_[name_of(kind, label)];
  found->second.seen = std::max(found->second.seen, number_);
  after_ = std::max(after_, found->second.order);
  return true;
}

Result<void> ObjectStore::Pass::put(const SavedObject& object, const ObjectVersion& version) {
  const Written written(object, occurrences_[name_of(object.kind, object.label)]++);
  const MutexLock lock(store_.mutex_);
  return store_.put_locked(written, version, number_, after_);
}

Result<void> ObjectStore::Pass::end() {
  if (auto done = remove_unseen(); !done) return done;
  if (!is_of(kinds_, store_.part_kinds_.part)) return {};
  return work_in_steps([this](const IsLate&) {
    const MutexLock lock(store_.mutex_);
    return store_.remove_void_parts(kVoidAtOnce);
  });
}

Result<void> ObjectStore::Pass::remove_unseen() {
  const MutexLock lock(store_.mutex_);
  for (std::uint16_t kind = 0; kind < kKindsMax; ++kind) {
    if (!is_of(kinds_, kind) || kind == store_.part_kinds_.part) continue;
    Items& items = store_.items_[kind];
    std::vector<std::string> gone;
    for (const auto& [name, item] : items) {
      if (item.seen < number_) gone.push_back(name);
    }
    for (const std::string& each : gone) {
      if (store_.under_way_ > 1) store_.removed_[each] = store_.passes_;
      if (auto done = store_.remove_from(items, items.find(each)); !done) return done;
    }
  }
  return {};
}

// ---- changes

ObjectStore::Written::Written(const SavedObject& of, std::uint16_t occurrence)
    : object(of),
      name(name_of(of.kind, of.label, occurrence)),
      head(head_of(of, occurrence)),
      hash(hash_of(of)),
      checksum(crc32c(of.bytes, crc32c(head))) {}

Result<void> ObjectStore::put(KindBits kinds, const SavedObject& object,
                              const ObjectVersion& version) {
  const Written written(object, 0);
  std::uint64_t after = order_begin(kinds);
  const MutexLock lock(mutex_);
  removed_.erase(written.name);
  after = std::max(after, last_[after >> kOrderBits]);
  const auto known = items_[object.kind].find(written.name);
  if (known != items_[object.kind].end()) after = known->second.order - 1;
  return put_locked(written, version, std::nullopt, after);
}

Result<void> ObjectStore::remove(std::uint16_t kind, std::string_view label) {
  const std::string name = name_of(kind, label);
  const MutexLock lock(mutex_);
  if (is_of(passed_, kind)) removed_[name] = passes_;
  const auto found = items_[kind].find(name);
  return found == items_[kind].end() ? Result<void>() : remove_from(items_[kind], found);
}

bool ObjectStore::has(std::uint16_t kind, std::string_view label,
                      const ObjectVersion& version) const {
  const std::string name = name_of(kind, label);
  const MutexLock lock(mutex_);
  const auto found = items_[kind].find(name);
  return found != items_[kind].end() && found->second.version >= version;
}

bool ObjectStore::is_removed(const std::string& name, std::uint32_t number) const {
  const auto found = removed_.find(name);
  return found != removed_.end() && found->second >= number;
}

Result<void> ObjectStore::put_locked(const Written& written, const ObjectVersion& version,
                                     std::optional<std::uint32_t> number, std::uint64_t& after) {
  Items& items = items_[written.object.kind];
  const auto [found, is_new] = items.try_emplace(written.name, Item());
  Item& item = found->second;
  item.seen = std::max(item.seen, number.value_or(passes_));
  if (is_new) {
    item.version = version;
    const bool is_gone = number && is_removed(written.name, *number);
    auto made = is_gone ? Result<void>() : make(item, written, after);
    if (is_gone || !made) items.erase(found);
    return made;
  }
  return put_known(item, written, version, after);
}

Result<void> ObjectStore::put_known(Item& item, const Written& written,
                                    const ObjectVersion& version, std::uint64_t& after) {
  if (item.order <= after) {
    if (auto moved = move_after(item, after); !moved) return moved;
  }
  after = item.order;
  // Another thread may have put a newer one.
  if (version < item.version) return {};
  if (written.hash != item.content_hash) {
    if (auto done = write(item, written); !done) return done;
  }
  item.version = version;
  if (written.object.kind == part_kinds_.whole) end_parts(written.object.label, version);
  return {};
}

Result<void> ObjectStore::make(Item& item, const Written& written, std::uint64_t& after) {
  const auto order = order_after(after);
  if (!order) return order.error();
  if (auto taken = take_entry(item); !taken) return taken;
  set_order(item, after = order.value());
  auto done = write(item, written);
  if (!done) give_entry(item);
  return done;
}

Result<void> ObjectStore::write(Item& item, const Written& written) {
  const SavedObject& object = written.object;
  const std::uint64_t size = written.head.size() + object.bytes.size();
  if (size > kObjectBytesMax || object.label.size() > kLabelBytesMax) {
    return Error{ErrorCode::kTooBig, "an object is too long"};
  }
  release_left();
  const Extent extent{extents_.take(size), size};
  if (extent.offset + size > kBytesMax) {
    (void)extents_.give(extent);
    return Error{ErrorCode::kTooBig, "the memory of the keeper is full"};
  }
  std::array pieces{piece_of(written.head), piece_of(object.bytes)};
  auto done = write_at(memory_, extent.offset, pieces);
  if (done) done = write_entry(item, extent, written.checksum);
  if (done) {
    item.content_hash = written.hash;
  } else {
    (void)extents_.give(extent);
  }
  return done;
}

Result<void> ObjectStore::write_entry(Item& item, const Extent& extent, std::uint32_t checksum) {
  EntryHalf half{.number = number_ + 1,
            .order = item.order,
            .unit = static_cast<std::uint32_t>(extent.offset / Extents::kUnit),
            .size = static_cast<std::uint32_t>(extent.size),
            .content = checksum};
  half.checksum = half.expected_checksum();
  const std::uint64_t at = kEntriesAt + item.entry * kEntryBytes + (item.slot ^ 1) * sizeof half;
  const auto done =
      write_at(memory_, at, {reinterpret_cast<const char*>(&half), sizeof half});
  if (!done) return done;
  number_ = half.number;
  item.slot ^= 1;
  item.checksum = checksum;
  if (item.unit != half.unit) left_ = item.extent();
  item.unit = half.unit;
  item.size = half.size;
  return {};
}

// The change that has left it is whole: no entry that counts names it.
void ObjectStore::release_left() {
  const Extent left = std::exchange(left_, {});
  if (left.size != 0) give_back(left, extents_.give(left));
}

// Pages of the system that are free now: whole blocks around what was freed, and what is at the
// end.
void ObjectStore::give_back(const Extent& freed, const Extent& free) {
  const std::uint64_t begin = std::max(freed.offset / kBlockBytes * kBlockBytes, free.offset);
  const std::uint64_t end =
      std::min((freed.offset + freed.size + kBlockBytes - 1) / kBlockBytes * kBlockBytes,
               free.offset + free.size);
  const std::uint64_t first = (begin + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  const std::uint64_t last = end / kBlockBytes * kBlockBytes;
  if (first >= last) return;
  ::fallocate(memory_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first),
              static_cast<off_t>(last - first));
}

Result<void> ObjectStore::take_entry(Item& item) {
  if (!free_entries_.empty()) {
    item.entry = free_entries_.back().entry;
    item.slot = free_entries_.back().slot;
    free_entries_.pop_back();
    return {};
  }
  if (entries_ == kObjectsMax) return Error{ErrorCode::kTooBig, "there are too many objects"};
  item.entry = entries_++;
  return {};
}

// The object could not be made. Reading ends at an entry that was never written.
void ObjectStore::give_entry(const Item& item) {
  if (item.entry + 1 == entries_) {
    --entries_;
  } else {
    free_entries_.push_back({item.entry, item.slot});
  }
}

Result<void> ObjectStore::remove_from(Items& items, Items::iterator at) {
  Item& item = at->second;
  release_left();
  auto done = write_entry(item, {}, 0);
  if (!done) return done;
  if (kind_of(at->first) == part_kinds_.whole) {
    end_parts(label_of(at->first), {item.version.object, UINT64_MAX});
  }
  free_entries_.push_back({item.entry, item.slot});
  items.erase(at);
  return {};
}

// ---- parts

bool ObjectStore::wants_part(std::string_view whole, std::uint64_t object) const {
  const std::string name = name_of(part_kinds_.whole, whole);
  const MutexLock lock(mutex_);
  const auto found = items_[part_kinds_.whole].find(name);
  if (found == items_[part_kinds_.whole].end()) return false;
  return found->second.version.object == object && found->second.size > kShortWhole;
}

void ObjectStore::know_whole(std::string_view whole, std::uint64_t object) {
  const std::string name = name_of(part_kinds_.whole, whole);
  const MutexLock lock(mutex_);
  const auto found = items_[part_kinds_.whole].find(name);
  if (found == items_[part_kinds_.whole].end()) return;
  if (found->second.version.object == 0) found->second.version = {object, 0};
}

Result<bool> ObjectStore::put_part(KindBits kinds, const SavedObject& part,
                                   const ObjectVersion& version) {
  const Written written(part, 0);
  const std::string whole = name_of(part_kinds_.whole, whole_of(part.label));
  const std::uint64_t size = written.head.size() + part.bytes.size();
  const MutexLock lock(mutex_);
  const auto found = items_[part_kinds_.whole].find(whole);
  if (found == items_[part_kinds_.whole].end()) return false;
  const Item& item = found->second;
  if (item.version.object != version.object) return false;
  if (version <= item.version) return true;
  const auto others = parts_.find(std::string(whole_of(part.label)));
  const std::uint64_t had = others == parts_.end() ? 0 : others->second.bytes;
  if (had + size > item.size || items_[part_kinds_.part].contains(written.name)) return false;
  if (auto done = remove_void_parts(kVoidWithEach); !done) return done.error();
  std::uint64_t after = last_[order_begin(kinds) >> kOrderBits];
  after = std::max(after, order_begin(kinds));
  if (auto done = put_locked(written, version, std::nullopt, after); !done) return done.error();
  note_part(whole_of(part.label), {written.name, static_cast<std::uint32_t>(size), version});
  return true;
}

void ObjectStore::note_part(std::string_view whole, Part part) {
  Parts& parts = parts_[std::string(whole)];
  parts.bytes += part.size;
  parts.all.push_back(std::move(part));
}

// Goes over those alone that stay, which are few: they came while the whole was read.
void ObjectStore::end_parts(std::string_view whole, const ObjectVersion& version) {
  const auto found = parts_.find(std::string(whole));
  if (found == parts_.end()) return;
  auto ended = std::exchange(found->second, {}).all;
  Parts& left = found->second;
  for (; !ended.empty() && ended.back().version > version; ended.pop_back()) {
    left.bytes += ended.back().size;
    left.all.push_front(std::move(ended.back()));
  }
  if (!ended.empty()) void_parts_.push_back(std::move(ended));
  if (left.all.empty()) parts_.erase(found);
}

Result<Step> ObjectStore::remove_void_parts(int at_most) {
  Items& items = items_[part_kinds_.part];
  for (int i = 0; i < at_most && !void_parts_.empty(); ++i) {
    auto& parts = void_parts_.front();
    if (auto done = remove_from(items, items.find(parts.front().name)); !done) return done.error();
    parts.pop_front();
    if (parts.empty()) void_parts_.pop_front();
  }
  return void_parts_.empty() ? Step::kLast : Step::kMore;
}

// A kill came before they were removed. They are void also where the memory takes no change now:
// then a later run removes them.
void ObjectStore::remove_lost_parts(Contents& contents) {
  const Items& wholes = items_[part_kinds_.whole];
  const auto is_lost = [&](std::string_view label) {
    return !wholes.contains(name_of(part_kinds_.whole, whole_of(label)));
  };
  std::erase_if(contents.objects, [&](const SavedObject& each) {
    return each.kind == part_kinds_.part && is_lost(each.label);
  });
  std::vector<std::string> lost;
  for (const auto& [label, parts] : parts_) {
    if (is_lost(label)) lost.push_back(label);
  }
  for (const std::string& each : lost) end_parts(each, {UINT64_MAX, UINT64_MAX});
  Result<Step> done = Step::kMore;
  while (done && done.value() == Step::kMore) done = remove_void_parts(kVoidAtOnce);
}

// ---- the order

void ObjectStore::set_order(Item& item, std::uint64_t order) {
  item.order = order;
  std::uint64_t& last = last_[order >> kOrderBits];
  last = std::max(last, order);
}

std::vector<ObjectStore::Item*> ObjectStore::in_order(std::uint64_t begin) {
  std::vector<Item*> all;
  for (Items& items : items_) {
    for (auto& [name, item] : items) {
      if (item.size != 0 && item.order > begin && item.order < order_end(begin)) {
        all.push_back(&item);
      }
    }
  }
  std::ranges::sort(all, {}, &Item::order);
  return all;
}

// The order of the next object; the end of the range: there is none.
std::uint64_t ObjectStore::next_order(std::uint64_t after) const {
  std::uint64_t next = order_end(after);
  for (const Items& items : items_) {
    for (const auto& [name, item] : items) {
      if (item.order > after && item.size != 0) next = std::min(next, item.order);
    }
  }
  return next;
}

// A place in the order that is free. As a rule an object is the last one; else all are gone over.
Result<std::uint64_t> ObjectStore::order_after(std::uint64_t& after) {
  const std::uint64_t end = order_end(after);
  for (int attempt = 0;; ++attempt) {
    const bool may_be_last = after >= last_[after >> kOrderBits];
    const std::uint64_t next = may_be_last ? end : next_order(after);
    const bool is_last = next == end;
    const std::uint64_t gap = next - after;
    if (is_last && gap > kOrderStep) return after + kOrderStep;
    if (!is_last && gap > 1) return after + std::min(gap / 2, kOrderBetween);
    if (attempt > 0) return Error{ErrorCode::kTooBig, "there are too many objects"};
    if (auto done = spread_order(after); !done) return done.error();
  }
}

Result<void> ObjectStore::move_after(Item& item, std::uint64_t& after) {
  const auto order = order_after(after);
  if (!order) return order.error();
  set_order(item, order.value());
  return write_entry(item, item.extent(), item.checksum);
}

// Where nothing more fits between two. A kill meanwhile leaves a wrong order, in which objects that
// need another one may not be loaded.
Result<void> ObjectStore::spread_order(std::uint64_t& after) {
  const std::uint64_t begin = after >> kOrderBits << kOrderBits;
  const auto all = in_order(begin);
  std::uint64_t moved_after = begin, next = begin;
  for (Item* const each : all) {
    const bool is_after = each->order == after;
    each->order = next += kOrderStep;
    if (is_after) moved_after = next;
  }
  last_[begin >> kOrderBits] = next;
  after = moved_after;
  for (Item* const each : all) {
    if (auto done = write_entry(*each, each->extent(), each->checksum); !done) return done;
  }
  return {};
}

std::size_t ObjectStore::objects() const {
  const MutexLock lock(mutex_);
  std::size_t all = 0;
  for (const Items& each : items_) all += each.size();
  return all;
}

std::uint64_t ObjectStore::bytes() const {
  const MutexLock lock(mutex_);
  return extents_.end() - kObjectsAt;
}

}  // namespace tallyfs
