// The binary form of FORMAT.md: writing it (client libraries, responses) and reading it (intake).
// A reader trusts nothing: it yields messages that lie wholly inside the datagram, or errors.
// Confined to the thread that holds them; a reader's views last as long as the datagram's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/model/kernel_event.h"
#include "core/model/latency_sample.h"
#include "core/model/sample.h"
#include "core/wire/events.h"
#include "core/wire/line.h"

namespace tallyfs::wire {

inline constexpr std::size_t kDatagramBytesMax = 256 * 1024;
inline constexpr std::string_view kMagic = "\xFETLY";
inline constexpr std::uint16_t kVersion = 1;
inline constexpr std::size_t kHeaderBytes = 16;
inline constexpr std::size_t kMessageHeaderBytes = 8;
inline constexpr std::size_t kReasonBytesMax = 1024;

inline constexpr std::uint16_t kSamplesKind = 1;  // for a client that packs samples itself

// VOIs of a template, counted with the vacant slots before the last.
inline constexpr std::size_t kVoisMax = 8192;

// The fields of a samples record beside X; a set of bits.
enum SampleFields : std::uint16_t { kXOnly = 0, kWithY = 1, kWithTime = 2, kFull = 3 };

enum class Made : std::uint16_t { kNew = 0, kWasThere = 1 };

struct Response {
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

  std::uint32_t sequence = 0;
  std::uint32_t error = 0;  // an errno; 0: done
  std::uint64_t number = 0;
  Made made = Made::kNew;
  // With an error: where in the request's text it begins, and the reason in words.
  std::uint32_t at = kNowhere;
  std::string_view reason;
  // Without one: the requested text, if a text was requested; of create and define, a warning.
  std::optional<std::string_view> text = std::nullopt;
  std::uint8_t decimals = 0;  // of the statistic that create or attach names
};

// A template of stats(3), sent to the daemon.
struct Template {
  std::uint32_t sequence = 0;
  std::string_view name;
  std::string_view blob;                    // as a new blob of it is, with its hash
  std::vector<std::string_view> voi_names;  // by their ids; of vacant slots empty
};

// Says that a feeder has cells of a statistic in its lane file.
struct Binding {
  std::uint32_t sequence = 0;
  std::uint32_t id = 0;      // of the statistic, in the lane's indexes
  std::uint64_t lane = 0;    // as the response to `lane` numbered it
  std::uint64_t number = 0;  // of the statistic
};

// Half of a ring of this lane is full.
struct Doorbell {
  std::uint64_t lane = 0;  // as the response to `lane` numbered it
};
// A datagram of one such message, which a signal handler can make as well.
inline constexpr std::size_t kDoorbellBytes = kHeaderBytes + kMessageHeaderBytes + 8;
void write_doorbell(std::uint64_t epoch, std::uint64_t lane, std::span<char, kDoorbellBytes> to);

// A blob of stats(3), which replaces the last blob of its object.
struct PackedBlob {
  std::uint64_t number = 0;  // of the object
  std::string_view bytes;    // the blob, whose header has its length, and padding after it
};

// Builds one datagram; clear() keeps its memory for the next.
class DatagramWriter {
 public:
  explicit DatagramWriter(std::uint64_t epoch) { clear(epoch); }

  // Samples of the statistic that has this number in the daemon's epoch. The caller keeps size()
  // below kDatagramBytesMax.
  void samples(std::uint64_t number, std::span<const Sample> samples, SampleFields fields);
  // sequence is not 0; text is one line of the text form.
  void request(std::uint32_t sequence, std::string_view text, Door door = Door::kProgram);
  // Only the first kReasonBytesMax bytes of a reason are sent.
  void response(const Response& response);
  void dropped(std::uint64_t samples);
  void define_template(const Template& given);
  void bind(const Binding& binding);
  void blob(std::uint64_t number, std::string_view bytes);
  void kernel_events(std::span<const KernelEvent> events);
  void latencies(std::string_view name, std::span<const LatencySample> latencies);
  void offer(const OfferedEvent& offered);
  // Records of events that were offered, each with its source's id.
  void source_records(std::span<const EventRecord> records);
  // Records of the user's event that has this number in the daemon's epoch; their ids are 0.
  void user_records(std::uint64_t number, std::span<const EventRecord> records);
  // Source records that append_record() has written.
  void packed_source_records(std::string_view records);
  void lost_events(std::uint64_t records);

  void clear(std::uint64_t epoch);
  std::string_view bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.size() == kHeaderBytes; }

 private:
  void message(std::uint16_t kind, std::uint16_t flags, std::size_t length);
  std::string bytes_;
};

// Records of one statistic, still packed.
class PackedSamples {
 public:
  PackedSamples(std::uint64_t number, SampleFields fields, std::span<char> records);

  std::uint64_t number() const { return number_; }
  std::size_t count() const { return records_.size() / record_bytes_; }

  // The next samples, with missing fields filled in and no time later than now; empty at the end.
  // Full records are handed out in place (their times are mended there), others by way of
  // scratch, as many at a time as it holds.
  std::span<const Sample> unpack(std::span<Sample> scratch, std::chrono::nanoseconds now);

 private:
  std::span<const Sample> in_place(std::chrono::nanoseconds now);

  std::uint64_t number_;
  SampleFields fields_;
  std::size_t record_bytes_;
  std::span<char> records_;
};

struct Request {
  std::uint32_t sequence = 0;
  std::string_view text;
  Door door = Door::kProgram;
};

// Samples that the sender has dropped since it last said so.
struct Dropped {
  std::uint64_t samples = 0;
};

// In the order of their times. Looked at where they arrived.
struct KernelEvents {
  std::span<const KernelEvent> events;
};

// The latencies of one directory of latency_hist, as views into the datagram.
struct Latencies {
  std::string_view name;
  std::span<const LatencySample> latencies;
};

using Message =
    std::variant<PackedSamples, Request, Response, Dropped, PackedBlob, Template, KernelEvents,
                 Latencies, OfferedEvent, PackedEvents, LostEvents, Binding, Doorbell>;

bool is_binary(std::string_view datagram);

class DatagramReader {
 public:
  // kInvalid: no whole header, another magic or version. The bytes must be 8-byte aligned, and
  // may be changed (see PackedSamples::unpack).
  static Result<DatagramReader> open(std::span<char> datagram);

  std::uint64_t epoch() const { return epoch_; }
  // The messages that next() has not come to.
  std::span<const char> rest() const { return rest_; }
  // The next message or its error; nothing at the end. After an error the reader stands behind the
  // bad message, or at the end if its length was wrong.
  std::optional<Result<Message>> next();

 private:
  DatagramReader(std::uint64_t epoch, std::span<char> rest) : epoch_(epoch), rest_(rest) {}

  std::uint64_t epoch_;
  std::span<char> rest_;
};

}  // namespace tallyfs::wire
