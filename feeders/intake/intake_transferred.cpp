// Hands the rest of the intake's work to the next server of the mount.
#include <cstring>
#include <string>
#include <utility>

#include "core/base/bytes.h"
#include "feeders/intake/intake.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kSendersFormat = 1;
constexpr std::uint16_t kLateFormat = 1;
constexpr std::uint16_t kUnseenFormat = 1;

Error not_handed_on() { return {ErrorCode::kInvalid, "not what the intake hands on"}; }

void save_deferred(ByteWriter& out, const Backlog::Deferred& deferred) {
  const Origin& origin = deferred.datagram.origin;
  out.put(std::int32_t{origin.pid});
  out.put(std::uint32_t{origin.uid});
  out.put_text({reinterpret_cast<const char*>(&origin.address), origin.address_size});
  out.put(std::uint8_t{deferred.is_rest});
  out.put(std::uint8_t{deferred.datagram.truncated});
  out.put(std::uint8_t{deferred.datagram.fds_refused});
  out.put_text({deferred.bytes.data(), deferred.bytes.size()});
}

std::optional<Backlog::Deferred> load_deferred(ByteReader& in) {
  Datagram datagram;
  Origin& origin = datagram.origin;
  origin.pid = in.get<std::int32_t>();
  origin.uid = in.get<std::uint32_t>();
  const std::string_view address = in.get_text();
  const bool is_rest = in.get_flag();
  datagram.truncated = in.get_flag();
  datagram.fds_refused = in.get_flag();
  const std::string_view bytes = in.get_text();
  if (!in.ok() || in.left() != 0 || address.size() > sizeof origin.address ||
      bytes.size() > wire::kDatagramBytesMax) {
    return std::nullopt;
  }
  std::memcpy(&origin.address, address.data(), address.size());
  origin.address_size = static_cast<socklen_t>(address.size());
  return Backlog::Deferred::of(datagram, {bytes.begin(), bytes.end()}, is_rest);
}

}  // namespace

// Each sender's in their order: of one that is put off, all of the batch is behind that. A line
// that was cut begins anew in the next server.
void Intake::finish(std::chrono::nanoseconds at_most) {
  const MutexLock lock(turn_);
  const Until until{clock_.now().monotonic + at_most};
  puts_off_ = false;
  if (finish_batch(until) == Progress::kDone) (void)catch_up(until);
  while (!backlog_.empty()) left_.push_back(backlog_.take());
  if (dispatcher_.is_busy()) {
    left_.push_back(Backlog::Deferred::of(batch_.front(), dispatcher_.put_off().rest, true));
    batch_ = batch_.subspan(1);
  }
  for (const Datagram& each : batch_) {
    left_.push_back(Backlog::Deferred::of(each, {each.bytes.begin(), each.bytes.end()}, false));
  }
  batch_ = {};
  dispatcher_.publish_counts(clock_.now());
}

void Intake::save_for_successor(ObjectSink& sink, TransferredFds& descriptors) {
  std::string bytes;
  ByteWriter out(bytes);
  channels_.save(out, descriptors);
  if (!sink.put(saved_object(SavedKind::kUnseenProcesses, kUnseenFormat, "unseen", bytes))) return;
  if (sink.reader() == ObjectSink::Reader::kSuccessor) return;
  bytes.clear();
  const MutexLock lock(turn_);
  dispatcher_.save(out);
  if (!sink.put(saved_object(SavedKind::kSenders, kSendersFormat, "senders", bytes))) return;
  for (std::size_t i = 0; i < left_.size(); ++i) {
    bytes.clear();
    save_deferred(out, left_[i]);
    const std::string place = std::to_string(i);
    if (!sink.put(saved_object(SavedKind::kLateDatagram, kLateFormat, place, bytes))) return;
  }
}

Result<void> Intake::load(const SavedObject& object, const Loading& loading,
                          TransferredFds& descriptors) {
  ByteReader in(object.bytes);
  if (is_of(object, SavedKind::kUnseenProcesses)) {
    if (object.format != kUnseenFormat) return other_format(object);
    if (!loading.has_pages) return {};
    channels_.load(in, descriptors);
    if (!in.ok()) return not_handed_on();
    return {};
  }
  const MutexLock lock(turn_);
  if (is_of(object, SavedKind::kSenders)) {
    if (object.format != kSendersFormat) return other_format(object);
    dispatcher_.load(in);
    if (!in.ok() || in.left() != 0) return not_handed_on();
    return {};
  }
  if (object.format != kLateFormat) return other_format(object);
  auto deferred = load_deferred(in);
  if (!deferred) return not_handed_on();
  has_deferred_ = true;
  backlog_.adopt(std::move(*deferred), loading.now.monotonic);
  return {};
}

}  // namespace tallyfs
