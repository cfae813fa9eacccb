// The journal: what came over the socket and out of rings since the state was saved last, in a
// memory that the keeper holds. After a kill the next server takes it in again, so that nothing is
// lost that was accepted (docs/keeper.md).
//
// * Datagrams are received into slots of the memory, and copied into the stream of the socket
//   before anything is done with them. Whenever the server is killed, each is in one of the two. A
//   datagram that is begun gets the next sequence number; its bytes have places from there on. One
//   that is put off has none until it is begun; what is left of one that was cut is a record of its
//   own.
// * What is read out of rings is written into the stream of rings, under the lock of the branch
//   that takes it in. So is the removal of a statistic: what is before it must not make it again.
// * A saved statistic says which places of both streams it has (core/model/input_position.h). When
//   all was saved, what is before that save may be overwritten.
//
// When much was written since the last save, the intake waits for one. A stream that is full
// nevertheless keeps no more until then: those records are lost if a kill comes before it.
// `journal_missed` counts them, and the next server tells.
//
// The socket's stream belongs to the thread with the intake's turn, the stream of rings to the lock
// of StatisticsBranch; saves note from any thread what they have.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/branch/transferred_part.h"
#include "core/model/input_position.h"
#include "core/statistics/branch/input_log.h"
#include "feeders/intake/journal_stream.h"
#include "feeders/intake/receiver.h"
#include "feeders/intake/switch_page.h"

namespace tallyfs {

// A datagram, its sender's address and its bytes stand behind it.
struct DatagramRecord : JournalRecord {
  enum class State : std::uint8_t { kReceived, kDeferred, kBegun, kDone, kDropped };
  static constexpr std::uint32_t kWhole = UINT32_MAX;

  std::uint64_t batch = 0;    // with which it was received
  std::uint64_t rest_of = 0;  // the sequence number of the datagram whose rest this is; 0: of none
  std::uint32_t rest_at = 0;  // from this byte of that on
  std::uint32_t length = 0;
  std::int32_t pid = 0;
  std::uint32_t uid = 0;
  std::uint16_t address_size = 0;
  std::uint8_t is_truncated = 0;  // or 1; a bool that a fault of the memory changes is none
  std::atomic<State> state{State::kReceived};
  std::atomic<std::uint8_t> tries{0};        // 1: it was begun again after a kill, and not finished
  std::atomic<std::uint32_t> end{kWhole};    // what of it was taken in, if it was cut
  std::atomic<std::uint64_t> sequence{0};    // 0: it was not begun
  std::int64_t monotonic = 0, realtime = 0;  // when it was begun

  const char* address() const { return reinterpret_cast<const char*>(this + 1); }
  char* data() { return reinterpret_cast<char*>(this + 1) + address_size; }
};

class InputJournal final : public TransferredPart, public statistics::InputLog {
 public:
  static constexpr std::uint64_t kLeast = 4u << 20;  // a smaller one is made so long

  // ---- the memory

  // A new one, whose places begin behind `from`. kNoSpace: there is no memory, and no journal.
  Result<void> make(std::uint64_t bytes, const InputPosition& from);
  bool is_open() const { return page_.has_value(); }
  void close(TransferredFds& descriptors) {
    if (page_) descriptors.remove(page_->fd());
    page_.reset();
  }
  std::span<std::byte> slots() const;
  SavedKinds objects() const override { return saved_kinds(SavedKind::kJournal); }
  void save_for_successor(ObjectSink& sink, TransferredFds& descriptors) override;
  // kInvalid: it is none of this version, or not whole: what came since the last save is lost.
  Result<void> load(const SavedObject& object, const Loading& loading,
                    TransferredFds& descriptors) override;

  // ---- what is taken in

  // A batch that was received into slots(), of this number, which is above last_batch().
  void append(std::span<Datagram> batch, std::uint64_t number);
  std::uint64_t last_batch() const;
  // What is left of a datagram from this byte on, which was begun: a record of its own, which is
  // entered into `left`, if the datagram has one and there is room.
  void append_rest(const Datagram& of, std::uint32_t at, Datagram& left);
  // It is put off. From now on its record gives way where there is no room for others: what a
  // sender beyond its share has waiting must not cost others their places.
  void defer(const Datagram& datagram);
  // The record of a datagram; nullptr: it has none, or none any more.
  DatagramRecord* record_of(const Datagram& datagram) const {
    return datagram.record && datagram.record_place >= socket_.tail() ? datagram.record : nullptr;
  }
  // Returns the place of its first byte. record: nullptr where it has none.
  std::uint64_t begin(DatagramRecord* record, Timestamp now);
  // It has taken effect, and what commands in it have changed in statistics/ is saved.
  static void finish(DatagramRecord* record) { set_state(record, DatagramRecord::State::kDone); }
  // So has all up to the datagram that began at this place.
  void note_done(std::uint64_t place) {
    done_.store(place + place_of(1), std::memory_order_release);
  }
  void drop(const Datagram& datagram) {
    set_state(record_of(datagram), DatagramRecord::State::kDropped);
  }
  std::uint64_t put(const statistics::RingSlice& from, uid_t uid, Timestamp now,
                    std::span<const statistics::NumberedRun> runs) override;
  std::uint64_t put_removal(std::string_view path, std::uint64_t at) override;

  // ---- saves

  // input: of the branch, at any time.
  void follow(std::function<InputPosition()> input) { input_ = std::move(input); }
  void begin_save() override;
  void note_saved() override;
  // A save is to come soon, as a third of a stream was written since the last one.
  bool wants_save() const { return is_filled(1, 3); }
  // It is to come at once: two thirds.
  bool wants_save_at_once() const { return is_filled(2, 3); }
  // There may be no room for another batch: nothing is to be received before the next save.
  bool is_nearly_full() const;
  // Another number whenever a save is done.
  std::uint64_t saves() const { return saves_.load(std::memory_order_relaxed); }
  // How many records found no room since the last call.
  std::uint64_t take_missed();

  // ---- after a kill

  struct RingRecord {
    statistics::RingSlice from;
    std::uint32_t uid = 0;
    Timestamp at;
    InputSpan span;
    std::vector<statistics::NumberedRun> runs;  // their samples stand in the memory
  };
  struct Left {
    InputPosition saved;                     // all of the state has this
    std::uint64_t missed = 0;                // records behind that which are lost
    std::vector<DatagramRecord*> begun;      // in their sequence
    std::vector<DatagramRecord*> not_begun;  // in the order in which they came
    std::vector<Datagram> in_slots;          // that were received, and not written
    std::vector<RingRecord> rings;
    std::vector<statistics::InputReplay::Removal> removals;
  };
  // What the server before has left. Nothing: it is not whole.
  std::optional<Left> left();
  // After a reload: all that was not begun has been handed over.
  static void drop(const Left& left);
  // Behind all that was taken in.
  InputPosition position() const;

  static std::uint64_t place_of(std::uint64_t sequence) { return sequence << kPlaceBits; }
  static Datagram datagram_of(DatagramRecord& record);

 private:
  static constexpr unsigned kPlaceBits = 20;  // more than wire::kDatagramBytesMax, and its end
  static_assert(wire::kDatagramBytesMax < 1u << kPlaceBits);
  static constexpr std::size_t kForRemovals = 64 << 10;  // slices leave so much room
  static constexpr std::uint32_t kDatagram = 2, kSlice = 3, kRemoval = 4;

  struct Header;
  struct SliceRecord;
  struct RemovalRecord;

  Header& header() const;
  Result<void> open(SealedPage page);
  static void set_state(DatagramRecord* record, DatagramRecord::State state) {
    if (record) record->state.store(state, std::memory_order_release);
  }
  static bool is_saved(const DatagramRecord& record, std::uint64_t saved);
  // Enters the record into the datagram.
  DatagramRecord* write(Datagram& datagram);
  void note_missed();
  // A stream has more than such a part that was written since the last save.
  bool is_filled(std::uint64_t part, std::uint64_t of) const;
  template <typename Record>
  Record* add_to_rings(std::size_t bytes, std::uint32_t kind);
  bool read_datagrams(Left& left);
  bool read_rings(Left& left);
  static bool read_slice(const SliceRecord& record, std::uint64_t place, Left& left);

  std::optional<SealedPage> page_;
  JournalStream socket_;
  JournalStream rings_;
  std::function<InputPosition()> input_ = [] { return InputPosition{}; };
  InputPosition begun_save_;  // at the beginning of the save that is under way
  InputPosition heads_begun_;  // of the streams, at the beginning of that save
  std::uint64_t missed_begun_ = 0;
  std::uint64_t missed_told_ = 0;
  std::atomic<std::uint64_t> saves_{0};
  std::atomic<std::uint64_t> done_{0};  // the place behind the last datagram that was finished
  std::uint64_t removals_begun_ = 0;
};

}  // namespace tallyfs
