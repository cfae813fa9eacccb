#include "core/stats3/branch/stats_object.h"

#include <utility>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/stats3/blob/check.h"
#include "core/stats3/blob/layout.h"
#include "core/stats3/blob/text.h"

namespace tallyfs::stats3 {

StatsObject::StatsObject(std::shared_ptr<const FeederTemplates> templates, std::uint64_t number,
                         Reservation share, Switch* its_switch, Timestamp now)
    : templates_(std::move(templates)),
      number_(number),
      share_(std::move(share)),
      switch_(its_switch),
      last_change_(now) {}

Result<void> StatsObject::publish(std::string_view bytes, uid_t publisher, Timestamp now) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const auto size = blob::check_blob({begin, bytes.size()});
  if (!size) return Error{ErrorCode::kInvalid, "the blob: " + size.error().reason};
  if (bytes.size() - size.value() >= 8) {
    return Error{ErrorCode::kInvalid, "there are bytes behind the blob"};
  }
  const MutexLock lock(mutex_);
  if (const auto held = hold(size.value()); !held) return held.error();
  blob_.assign(begin, begin + size.value());
  find_names(blob::load<blob::Header>(blob_.data()).tplhash, publisher);
  publisher_ = publisher;
  published_ += 1;
  last_change_ = now;
  if (switch_ && (!asked_ || now.monotonic - asked_->monotonic > kAskedFor)) {
    switch_->on.store(0, std::memory_order_relaxed);
  }
  return {};
}

void StatsObject::find_names(std::uint32_t hash, uid_t publisher) {
  if (names_ && names_hash_ == hash && publisher_ == publisher) return;
  names_ = templates_->names(publisher, hash);
  names_hash_ = hash;
}

Result<void> StatsObject::hold(std::size_t bytes) {
  const std::size_t before = blob_.size();
  if (bytes > before) return share_.grow({.bytes = bytes - before});
  share_.shrink({.bytes = before - bytes});
  return {};
}

void StatsObject::ask(Timestamp now) {
  const MutexLock lock(mutex_);
  asked_ = now;
  if (switch_) switch_->on.store(1, std::memory_order_relaxed);
}

void StatsObject::detach() {
  const MutexLock lock(mutex_);
  switch_ = nullptr;
}

Result<std::string> StatsObject::render(Format format, std::size_t bytes_max) const {
  std::vector<std::uint8_t> bytes;
  uid_t publisher = 0;
  {
    const MutexLock lock(mutex_);
    bytes = blob_;
    publisher = publisher_;
  }
  if (bytes.empty()) return std::string();
  const auto* const sb = reinterpret_cast<const statsblob*>(bytes.data());
  const auto names = templates_->names(publisher, blob::header_of(sb).tplhash);
  // Its address in our memory must not be shown; that it differs from the first, may.
  std::string address;
  append_hex(address, number_);
  std::string text =
      blob::render(sb, {.format = format == Format::kJson ? SB_STRFMT_JSON : SB_STRFMT_FREEFORM,
                        .audience = blob::Audience::kTree,
                        .names = names.get(),
                        .address = address});
  text += '\n';
  if (text.size() > bytes_max) return Error{ErrorCode::kNoSpace, "a text too long to be opened"};
  return text;
}

// The sum of two numbers that only grow, so that each change of one of them changes it.
std::uint64_t StatsObject::version() const {
  const std::uint64_t templates = templates_->version();
  const MutexLock lock(mutex_);
  return published_ + templates;
}

Timestamp StatsObject::last_change() const {
  const MutexLock lock(mutex_);
  return last_change_;
}

void StatsObject::save(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  save_locked(out);
}

void StatsObject::save_locked(ByteWriter& out) const {
  out.put(std::uint32_t{publisher_});
  out.put_text({reinterpret_cast<const char*>(blob_.data()), blob_.size()});
}

Result<void> StatsObject::load(ByteReader& in, Timestamp now) {
  const auto publisher = in.get<std::uint32_t>();
  // A copy: a blob is read where memory is aligned.
  const std::string bytes(in.get_text());
  if (!in.ok()) return Error{ErrorCode::kInvalid, "no saved object of stats/"};
  if (bytes.empty()) return {};
  return publish(bytes, publisher, now);
}

std::uint64_t StatsObject::published() const {
  const MutexLock lock(mutex_);
  return published_;
}

void StatsObject::save_for_successor(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  out.put(std::uint8_t{asked_.has_value()});
  out.put(std::int64_t{asked_ ? asked_->monotonic.count() : 0});
  out.put(std::int64_t{asked_ ? asked_->realtime.count() : 0});
  out.put(published_);
  save_locked(out);
}

Result<void> StatsObject::load_transferred(ByteReader& in, Timestamp now) {
  const bool is_asked = in.get_flag();
  const Timestamp asked{.monotonic = std::chrono::nanoseconds(in.get<std::int64_t>()),
                        .realtime = std::chrono::nanoseconds(in.get<std::int64_t>())};
  const auto published = in.get<std::uint64_t>();
  if (!in.ok() || asked.monotonic.count() < 0) {
    return Error{ErrorCode::kInvalid, "not what stats/ hands on"};
  }
  {
    const MutexLock lock(mutex_);
    if (is_asked) asked_ = asked;
  }
  const auto loaded = load(in, now);
  const MutexLock lock(mutex_);
  published_ = published;
  return loaded;
}

}  // namespace tallyfs::stats3
