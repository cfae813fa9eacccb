#include "feeders/intake/input_journal.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "core/base/bytes.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kJournalFormat = 1;
// Of this layout: of records, of the slots, and of what they hold.
constexpr std::uint64_t kMagic = 0x7461'6c6c'796a'0002;
constexpr std::size_t kSlotsAt = 4096;

std::size_t rounded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

Error no_journal() {
  return {ErrorCode::kInvalid,
          "no journal of this version, or not a whole one: what came since "
          "the last save is lost"};
}

}  // namespace

struct InputJournal::Header {
  std::uint64_t magic = kMagic;
  JournalStream::Places socket{};
  JournalStream::Places rings{};
  std::atomic<std::uint64_t> sequence{0};  // that was given last
  std::atomic<std::uint64_t> saved_socket{0};
  std::atomic<std::uint64_t> saved_rings{0};
  // The heads of the streams when the last save began.
  std::atomic<std::uint64_t> socket_head_saved{0};
  std::atomic<std::uint64_t> rings_head_saved{0};
  std::atomic<std::uint64_t> missed{0};         // records that found no room
  std::atomic<std::uint64_t> missed_saved{0};   // those of them that the last save has
  std::atomic<std::uint64_t> written_batch{0};  // the last one of which nothing is in slots alone
  // Removals that found no room, and those of them that are saved. While they differ, the rest
  // would make again what is gone: the journal is of no use until the next save.
  std::atomic<std::uint64_t> removals_missed{0};
  std::atomic<std::uint64_t> removals_saved{0};
};

// Behind it: for each run its number, how many samples, and these.
struct InputJournal::SliceRecord : JournalRecord {
  std::uint64_t lane = 0, until = 0;
  std::uint32_t entry = 0, uid = 0;
  std::int64_t monotonic = 0, realtime = 0;
  std::uint32_t runs = 0, padding = 0;
};

// Behind it: the path.
struct InputJournal::RemovalRecord : JournalRecord {
  std::uint64_t socket = 0;
  std::uint32_t length = 0, padding = 0;
};

// ---- the memory

InputJournal::Header& InputJournal::header() const {
  return *reinterpret_cast<Header*>(page_->memory().data());
}

std::span<std::byte> InputJournal::slots() const {
  return page_->memory().subspan(kSlotsAt, Receiver::kSlotsBytes);
}

Result<void> InputJournal::make(std::uint64_t bytes, const InputPosition& from) {
  bytes = std::max(bytes, kLeast);
  auto page = SealedPage::create("tallyfs-journal", kSlotsAt + Receiver::kSlotsBytes + bytes);
  if (!page) return page.error();
  auto* const made = new (page.value().memory().data()) Header;
  made->sequence = from.socket >> kPlaceBits;
  made->rings.head = made->rings.tail = rounded(from.rings);
  made->saved_socket = from.socket;
  made->saved_rings = from.rings;
  made->rings_head_saved = made->rings.head.load();
  return open(std::move(page.value()));
}

// Three quarters are the socket's: what comes out of rings is shorter.
Result<void> InputJournal::open(SealedPage page) {
  const std::size_t at = (kSlotsAt + Receiver::kSlotsBytes + 4095) / 4096 * 4096;
  const auto all = page.memory();
  if (all.size() < at + kLeast / 2) return no_journal();
  const auto streams = all.subspan(at);
  const std::size_t rings_at = streams.size() / 16 * 12 / 8 * 8;
  page_.emplace(std::move(page));
  socket_ = JournalStream(header().socket, streams.first(rings_at));
  rings_ = JournalStream(header().rings, streams.subspan(rings_at).first(rings_at / 3 / 8 * 8));
  missed_told_ = header().missed;
  return {};
}

void InputJournal::save_for_successor(ObjectSink& sink, TransferredFds& descriptors) {
  if (!page_) return;
  std::string bytes;
  ByteWriter out(bytes);
  out.put(page_->bytes());
  out.put(descriptors.add(page_->fd()));
  sink.put(saved_object(SavedKind::kJournal, kJournalFormat, "journal", bytes));
}

Result<void> InputJournal::load(const SavedObject& object, const Loading& loading,
                                TransferredFds& descriptors) {
  if (object.format != kJournalFormat) return other_format(object);
  if (!loading.has_pages) return {};  // its numbers mean nothing here
  ByteReader in(object.bytes);
  const auto bytes = in.get<std::uint64_t>();
  const auto place = in.get<std::uint32_t>();
  if (!in.ok() || in.left() != 0) return no_journal();
  auto page = SealedPage::adopt(descriptors.take(place), bytes);
  if (!page) return page.error();
  if (page.value().bytes() < kSlotsAt ||
      reinterpret_cast<const Header*>(page.value().memory().data())->magic != kMagic) {
    return no_journal();
  }
  const int fd = page.value().fd();
  if (auto opened = open(std::move(page.value())); !opened) return opened;
  if (!socket_.is_sound() || !rings_.is_sound()) {
    page_.reset();
    return no_journal();
  }
  descriptors.adopt(place, fd);
  return {};
}

// ---- what is taken in

// Or dropped.
bool InputJournal::is_saved(const DatagramRecord& record, std::uint64_t saved) {
  if (record.state.load(std::memory_order_relaxed) == DatagramRecord::State::kDropped) return true;
  const std::uint64_t sequence = record.sequence.load(std::memory_order_relaxed);
  return sequence != 0 && place_of(sequence + 1) <= saved;
}

DatagramRecord* InputJournal::write(Datagram& datagram) {
  const Origin& origin = datagram.origin;
  const std::span<const char> bytes = datagram.bytes;
  datagram.record = nullptr;
  const std::uint64_t saved = header().saved_socket.load(std::memory_order_relaxed);
  const auto may_go = [this, saved](const JournalRecord& oldest, std::uint64_t) {
    const auto& record = static_cast<const DatagramRecord&>(oldest);
    const bool gives_way =
        record.state.load(std::memory_order_relaxed) == DatagramRecord::State::kDeferred;
    if (gives_way) note_missed();
    return gives_way || is_saved(record, saved);
  };
  const std::size_t size = rounded(sizeof(DatagramRecord) + origin.address_size + bytes.size());
  auto* const record = socket_.add<DatagramRecord>(size, kDatagram, may_go);
  if (!record) {
    note_missed();
    return nullptr;
  }
  record->length = static_cast<std::uint32_t>(bytes.size());
  record->pid = origin.pid;
  record->uid = origin.uid;
  record->address_size = static_cast<std::uint16_t>(origin.address_size);
  record->is_truncated = datagram.truncated ? 1 : 0;
  std::memcpy(record->data() - origin.address_size, &origin.address, origin.address_size);
  std::memcpy(record->data(), bytes.data(), bytes.size());
  datagram.record = record;
  datagram.record_place = socket_.place(*record);
  return record;
}

std::uint64_t InputJournal::last_batch() const { return header().written_batch; }

void InputJournal::append(std::span<Datagram> batch, std::uint64_t number) {
  for (Datagram& each : batch) {
    if (DatagramRecord* const record = write(each)) record->batch = number;
  }
  socket_.commit();
  header().written_batch.store(number, std::memory_order_release);
}

void InputJournal::append_rest(const Datagram& of, std::uint32_t at, Datagram& left) {
  DatagramRecord* const begun = record_of(of);
  left.record = nullptr;
  if (!begun) return;
  if (DatagramRecord* const record = write(left)) {
    record->rest_of = begun->sequence.load(std::memory_order_relaxed);
    record->rest_at = at;
    record->state = DatagramRecord::State::kDeferred;
    socket_.commit();
  }
  // To make room may have let it go, but not a begun one.
  begun->end.store(at, std::memory_order_relaxed);
  finish(begun);
}

void InputJournal::defer(const Datagram& datagram) {
  set_state(record_of(datagram), DatagramRecord::State::kDeferred);
}

std::uint64_t InputJournal::begin(DatagramRecord* record, Timestamp now) {
  auto& last = header().sequence;
  const std::uint64_t sequence = last.load(std::memory_order_relaxed) + 1;
  last.store(sequence, std::memory_order_relaxed);
  if (record) {
    record->monotonic = now.monotonic.count();
    record->realtime = now.realtime.count();
    record->sequence.store(sequence, std::memory_order_release);
    record->state.store(DatagramRecord::State::kBegun, std::memory_order_release);
  }
  return place_of(sequence);
}

template <typename Record>
Record* InputJournal::add_to_rings(std::size_t bytes, std::uint32_t kind) {
  const std::uint64_t saved = header().saved_rings.load(std::memory_order_relaxed);
  const auto may_go = [saved](const JournalRecord& oldest, std::uint64_t place) {
    return place + oldest.bytes <= saved;
  };
  auto* const record = rings_.add<Record>(bytes, kind, may_go);
  if (!record) note_missed();
  return record;
}

std::uint64_t InputJournal::put(const statistics::RingSlice& from, uid_t uid, Timestamp now,
                                std::span<const statistics::NumberedRun> runs) {
  std::size_t bytes = sizeof(SliceRecord);
  for (const auto& each : runs) bytes += 2 * sizeof(std::uint64_t) + each.samples.size_bytes();
  // Without its record, a removal makes all of the journal void.
  const std::uint64_t used = rings_.head() - std::min(rings_.head(), header().saved_rings.load());
  if (used + bytes + kForRemovals > rings_.capacity()) {
    note_missed();
    return rings_.head();
  }
  auto* const record = add_to_rings<SliceRecord>(bytes, kSlice);
  if (!record) return rings_.head();
  record->lane = from.lane;
  record->until = from.until;
  record->entry = from.entry;
  record->uid = uid;
  record->monotonic = now.monotonic.count();
  record->realtime = now.realtime.count();
  record->runs = static_cast<std::uint32_t>(runs.size());
  char* to = reinterpret_cast<char*>(record + 1);
  for (const auto& each : runs) {
    const std::uint64_t head_of_run[] = {each.number, each.samples.size()};
    std::memcpy(to, head_of_run, sizeof head_of_run);
    std::memcpy(to + sizeof head_of_run, each.samples.data(), each.samples.size_bytes());
    to += sizeof head_of_run + each.samples.size_bytes();
  }
  rings_.commit();
  return rings_.head();
}

std::uint64_t InputJournal::put_removal(std::string_view path, std::uint64_t at) {
  auto* const record =
      add_to_rings<RemovalRecord>(rounded(sizeof(RemovalRecord) + path.size()), kRemoval);
  if (!record) {
    header().removals_missed.fetch_add(1);
    return rings_.head();
  }
  record->socket = at;
  record->length = static_cast<std::uint32_t>(path.size());
  std::memcpy(record + 1, path.data(), path.size());
  rings_.commit();
  return rings_.head();
}

// ---- saves

bool InputJournal::is_filled(std::uint64_t part, std::uint64_t of) const {
  if (!page_) return false;
  const std::uint64_t socket = socket_.head() - header().socket_head_saved.load();
  const std::uint64_t rings = rings_.head() - header().rings_head_saved.load();
  return socket * of > socket_.capacity() * part || rings * of > rings_.capacity() * part;
}

bool InputJournal::is_nearly_full() const {
  const std::uint64_t batch =
      std::min<std::uint64_t>(Receiver::kSlotsBytes, socket_.capacity() / 4);
  return page_ && socket_.head() - header().socket_head_saved + batch > socket_.capacity();
}

void InputJournal::note_missed() { header().missed.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t InputJournal::take_missed() {
  if (!page_) return 0;
  const std::uint64_t missed = header().missed.load(std::memory_order_relaxed);
  return missed - std::exchange(missed_told_, missed);
}

void InputJournal::begin_save() {
  if (!page_) return;
  heads_begun_ = {socket_.head(), rings_.head()};
  removals_begun_ = header().removals_missed;
  missed_begun_ = header().missed;
  // What has no samples moves no statistic's place.
  const std::uint64_t done = done_.load(std::memory_order_acquire);
  begun_save_ = input_();
  begun_save_.socket = std::max(begun_save_.socket, done);
}

void InputJournal::note_saved() {
  if (!page_) return;
  header().saved_socket.store(begun_save_.socket, std::memory_order_release);
  header().saved_rings.store(begun_save_.rings, std::memory_order_release);
  header().removals_saved = removals_begun_;
  header().socket_head_saved = heads_begun_.socket;
  header().rings_head_saved = heads_begun_.rings;
  header().missed_saved = missed_begun_;
  saves_.fetch_add(1, std::memory_order_relaxed);
}

// ---- after a kill

Datagram InputJournal::datagram_of(DatagramRecord& record) {
  Datagram datagram{.bytes = {record.data(), record.length}, .origin = {}};
  datagram.origin.pid = record.pid;
  datagram.origin.uid = record.uid;
  datagram.origin.address_size = record.address_size;
  std::memcpy(&datagram.origin.address, record.address(), record.address_size);
  datagram.truncated = record.is_truncated != 0;
  datagram.record = &record;
  datagram.record_place = UINT64_MAX;
  return datagram;
}

std::optional<InputJournal::Left> InputJournal::left() {
  Left left{.saved = {header().saved_socket, header().saved_rings},
            .missed = header().missed - header().missed_saved};
  const bool is_void = header().removals_missed != header().removals_saved;
  if (is_void || !read_rings(left) || !read_datagrams(left)) return std::nullopt;
  return left;
}

bool InputJournal::read_datagrams(Left& left) {
  std::uint64_t batch = header().written_batch, sequence = header().sequence;
  const bool is_whole = socket_.each([&](JournalRecord& each, std::uint64_t) {
    auto& record = static_cast<DatagramRecord&>(each);
    const bool is_sound = each.kind == kDatagram && each.bytes >= sizeof record &&
                          record.address_size <= sizeof(sockaddr_un) &&
                          record.length <= each.bytes - sizeof record &&
                          record.address_size <= each.bytes - sizeof record - record.length &&
                          record.length <= wire::kDatagramBytesMax;
    if (!is_sound) return false;
    batch = std::max(batch, record.batch);
    sequence = std::max<std::uint64_t>(sequence, record.sequence);
    if (is_saved(record, left.saved.socket)) return true;
    (record.sequence != 0 ? left.begun : left.not_begun).push_back(&record);
    return true;
  });
  if (!is_whole) return false;
  // What is left of one of these may have been written, and the kill came before that was noted.
  std::ranges::sort(left.begun, {}, [](const auto* each) { return each->sequence.load(); });
  const auto cut = [&](const std::vector<DatagramRecord*>& records) {
    for (const DatagramRecord* const each : records) {
      if (each->rest_of == 0) continue;
      const auto of = std::ranges::lower_bound(
          left.begun, each->rest_of, {}, [](const auto* begun) { return begun->sequence.load(); });
      if (of != left.begun.end() && (*of)->sequence == each->rest_of) (*of)->end = each->rest_at;
    }
  };
  cut(left.begun);
  cut(left.not_begun);
  // A rest comes before what its sender has sent later.
  std::stable_partition(left.not_begun.begin(), left.not_begun.end(),
                        [](const DatagramRecord* each) { return each->rest_of != 0; });
  header().sequence = sequence;
  header().written_batch = batch;
  left.in_slots = Receiver::left_in(slots(), batch);
  return true;
}

bool InputJournal::read_rings(Left& left) {
  return rings_.each([&](JournalRecord& each, std::uint64_t place) {
    if (each.kind == kSlice && each.bytes >= sizeof(SliceRecord)) {
      return read_slice(static_cast<SliceRecord&>(each), place, left);
    }
    if (each.kind != kRemoval || each.bytes < sizeof(RemovalRecord)) return false;
    const auto& removal = static_cast<RemovalRecord&>(each);
    if (removal.length > each.bytes - sizeof removal) return false;
    left.removals.push_back({.path = {reinterpret_cast<const char*>(&removal + 1), removal.length},
                             .at = removal.socket});
    return true;
  });
}

bool InputJournal::read_slice(const SliceRecord& record, std::uint64_t place, Left& left) {
  RingRecord slice{
      .from = {record.lane, record.entry, record.until},
      .uid = record.uid,
      .at = {std::chrono::nanoseconds(record.monotonic), std::chrono::nanoseconds(record.realtime)},
      .span = {place, place + record.bytes}};
  const char* at = reinterpret_cast<const char*>(&record + 1);
  std::uint64_t bytes = record.bytes - sizeof record;
  for (std::uint32_t i = 0; i < record.runs; ++i) {
    std::uint64_t head[2];
    if (bytes < sizeof head) return false;
    std::memcpy(head, at, sizeof head);
    at += sizeof head;
    bytes -= sizeof head;
    if (head[1] > bytes / sizeof(Sample)) return false;
    const auto* const samples = reinterpret_cast<const Sample*>(at);
    slice.runs.push_back({head[0], {samples, static_cast<std::size_t>(head[1])}});
    at += head[1] * sizeof(Sample);
    bytes -= head[1] * sizeof(Sample);
  }
  left.rings.push_back(std::move(slice));
  return true;
}

InputPosition InputJournal::position() const {
  return {place_of(header().sequence + 1), rings_.head()};
}

void InputJournal::drop(const Left& left) {
  for (DatagramRecord* const each : left.not_begun) {
    set_state(each, DatagramRecord::State::kDropped);
  }
  for (DatagramRecord* const each : left.begun) finish(each);
}

}  // namespace tallyfs
