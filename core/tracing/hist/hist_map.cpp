#include "core/tracing/hist/hist_map.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/int128.h"
#include "core/base/keyed_hash.h"

namespace tallyfs::tracing {
namespace {

// wyhash's step: all bits of a 128-bit product, folded.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  const UInt128 product = static_cast<UInt128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

std::size_t HistMap::Shape::bytes_max() const {
  return entries_max * (entry_words() * 8 + 2 * sizeof(Slot));
}

HistMap::HistMap(const Shape& shape)
    : shape_(shape),
      stride_(shape.entry_words()),
      mask_(std::size_t{2} * shape.entries_max - 1),
      seed_(keyed_hash("histograms") | 1),
      slots_(mask_ + 1) {}

std::uint64_t HistMap::hash(const std::uint64_t* key) const {
  std::uint64_t state = seed_;
  for (std::uint32_t i = 0; i < shape_.key_words; ++i) {
    state = mixed(state ^ key[i], 0x9E3779B97F4A7C15u ^ seed_);
  }
  return state;
}

bool HistMap::same(const std::uint64_t* a, const std::uint64_t* b) const {
  for (std::uint32_t i = 0; i < shape_.key_words; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

std::size_t HistMap::slot_of(const std::uint64_t* key, std::uint64_t hash) const {
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  std::size_t at = hash & mask_;
  while (slots_[at].number != 0) {
    if (slots_[at].tag == tag && same(entry(slots_[at].number - 1), key)) break;
    at = (at + 1) & mask_;
  }
  return at;
}

HistMap::Entry HistMap::find(const std::uint64_t* key) {
  const Slot& slot = slots_[slot_of(key, hash(key))];
  return slot.number == 0 ? nullptr : own(slot.number - 1);
}

HistMap::Inserted HistMap::insert(const std::uint64_t* key) {
  const std::uint64_t hashed = hash(key);
  Slot& slot = slots_[slot_of(key, hashed)];
  if (slot.number != 0) return {own(slot.number - 1), false};
  if (size_ == shape_.entries_max) return {nullptr, false};
  if (size_ % kBlockEntries == 0 && size_ / kBlockEntries == blocks_.size()) {
    blocks_.push_back({.words = std::make_shared<std::uint64_t[]>(kBlockEntries * stride_)});
    words_.push_back(blocks_.back().words.get());
  }
  const Entry made = own(size_);
  std::copy_n(key, shape_.key_words, made);
  std::fill_n(values(made), shape_.value_words, 0);
  size_ += 1;
  slot = {static_cast<std::uint32_t>(hashed >> 32), size_};
  return {made, true};
}

HistMap::Entry HistMap::replace(std::uint32_t number, const std::uint64_t* key) {
  const Entry reused = own(number);
  free_slot(slot_of(reused, hash(reused)));
  std::copy_n(key, shape_.key_words, reused);
  std::fill_n(values(reused), shape_.value_words, 0);
  const std::uint64_t hashed = hash(key);
  slots_[slot_of(key, hashed)] = {static_cast<std::uint32_t>(hashed >> 32), number + 1};
  return reused;
}

// Later slots move up as far as their home slots allow, so that every look-up still ends at the
// first free slot.
void HistMap::free_slot(std::size_t slot) {
  slots_[slot] = {};
  for (std::size_t at = (slot + 1) & mask_; slots_[at].number != 0; at = (at + 1) & mask_) {
    const std::size_t home = hash(entry(slots_[at].number - 1)) & mask_;
    if (((at - home) & mask_) < ((at - slot) & mask_)) continue;
    slots_[slot] = slots_[at];
    slots_[at] = {};
    slot = at;
  }
}

HistMap::View HistMap::view() {
  View view;
  view.size_ = size_;
  view.stride_ = stride_;
  view.blocks_.reserve(used_blocks());
  for (std::size_t i = 0; i < used_blocks(); ++i) {
    viewed_blocks_ += std::exchange(blocks_[i].is_viewed, true) ? 0 : 1;
    view.blocks_.push_back(blocks_[i].words);
  }
  return view;
}

std::size_t HistMap::view_bytes() const {
  return used_blocks() * kBlockEntries * stride_ * sizeof(std::uint64_t);
}

// The block is copied even if the view is gone by now: a view is released without the lock.
void HistMap::own_block(std::size_t block) {
  if (!blocks_[block].is_viewed) return;
  const std::size_t words = kBlockEntries * stride_;
  auto copy = std::make_shared_for_overwrite<std::uint64_t[]>(words);
  std::copy_n(words_[block], words, copy.get());
  blocks_[block] = {.words = std::move(copy)};
  words_[block] = blocks_[block].words.get();
  viewed_blocks_ -= 1;
}

void HistMap::clear() {
  std::ranges::fill(slots_, Slot{});
  size_ = 0;
}

}  // namespace tallyfs::tracing
