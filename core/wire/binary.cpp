// Longer than most: all kinds of messages are written and read here, most in a few lines.
#include "core/wire/binary.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/decimal.h"
#include "core/base/near_time.h"
#include "core/wire/padding.h"

namespace tallyfs::wire {
namespace {

enum Kind : std::uint16_t {
  kSamples = kSamplesKind,
  kRequest = 2,
  kResponse = 3,
  kDropped = 4,
  kBlob = 5,
  kTemplate = 6,
  kKernelEvents = 7,
  kLatencies = 8,
  kBinding = 13,
  kDoorbell = 14,
};

// Flags of a request.
constexpr std::uint16_t kPersonFlag = 1;
// Flags of a response.
constexpr std::uint16_t kWasThereFlag = 1, kTextFlag = 2;
// The decimals of a statistic stand in flags, too.
constexpr unsigned kDecimalsShift = 8;
constexpr std::uint16_t kDecimalsMask = 0xF << kDecimalsShift;

constexpr std::size_t record_bytes(SampleFields fields) {
  return 8 * (1u + ((fields & kWithY) ? 1u : 0u) + ((fields & kWithTime) ? 1u : 0u));
}

std::string_view view(std::span<char> bytes) { return {bytes.data(), bytes.size()}; }

// Where it stays: when one is moved, gcc loses sight of which of them it is, and warns of others.
template <typename One>
Result<Message> made(One&& one) {
  return Result<Message>(boost::system::in_place_value, std::forward<One>(one));
}

Result<Message> read_samples(std::uint16_t flags, std::span<char> payload) {
  if (flags > kFull) return invalid("samples message with unknown flags");
  const auto fields = static_cast<SampleFields>(flags);
  if (payload.size() < 8) return invalid("samples message without a statistic's number");
  const auto number = ByteReader(view(payload)).get<std::uint64_t>();
  const auto records = payload.subspan(8);
  if (records.size() % record_bytes(fields) != 0) {
    return invalid("samples message that ends inside a record");
  }
  return made(PackedSamples(number, fields, records));
}

Result<Message> read_request(std::uint16_t flags, std::span<char> payload) {
  ByteReader in(view(payload));
  const auto sequence = in.get<std::uint32_t>();
  const auto text = in.get_text();
  const bool knows_flags = (flags & ~kPersonFlag) == 0;
  if (!knows_flags || !in.ok() || in.left() >= 8) return invalid("malformed request message");
  if (sequence == 0) return invalid("request message with sequence 0");
  return made(Request{sequence, text, flags & kPersonFlag ? Door::kPerson : Door::kProgram});
}

Result<Message> read_response(std::uint16_t flags, std::span<char> payload) {
  ByteReader in(view(payload));
  Response response;
  response.sequence = in.get<std::uint32_t>();
  response.error = in.get<std::uint32_t>();
  response.number = in.get<std::uint64_t>();
  response.made = flags & kWasThereFlag ? Made::kWasThere : Made::kNew;
  if (response.error != 0) {
    response.at = in.get<std::uint32_t>();
    response.reason = in.get_text();
  } else if (flags & kTextFlag) {
    response.text = in.get_text();
  }
  if (response.error == 0) {
    response.decimals = static_cast<std::uint8_t>((flags & kDecimalsMask) >> kDecimalsShift);
  }
  const int of_success = response.error == 0 ? kTextFlag | kDecimalsMask : 0;
  const bool knows_flags =
      (flags & ~(kWasThereFlag | of_success)) == 0 && response.decimals <= kDecimalsMax;
  if (!knows_flags || !in.ok() || in.left() >= 8) return invalid("malformed answer message");
  return made(response);
}

Result<Message> read_dropped(std::uint16_t flags, std::span<char> payload) {
  ByteReader in(view(payload));
  const Dropped dropped{in.get<std::uint64_t>()};
  if (flags != 0 || !in.ok() || in.left() != 0) return invalid("malformed message of drops");
  return made(dropped);
}

Result<Message> read_blob(std::uint16_t flags, std::span<char> payload) {
  ByteReader in(view(payload));
  const auto number = in.get<std::uint64_t>();
  if (flags != 0 || !in.ok()) return invalid("malformed message of a blob");
  return made(PackedBlob{number, in.take(in.left())});
}

Result<Message> read_template(std::uint16_t flags, std::span<char> payload) {
  ByteReader in(view(payload));
  Template given;
  given.sequence = in.get<std::uint32_t>();
  const auto count = in.get<std::uint32_t>();
  given.name = in.get_text();
  given.blob = in.get_text();
  // Each name takes four bytes at least: memory is reserved only for names that can be there.
  if (flags != 0 || !in.ok() || count > kVoisMax || count > in.left() / 4) {
    return invalid("malformed message of a template");
  }
  for (std::uint32_t i = 0; i < count; ++i) given.voi_names.push_back(in.get_text());
  if (!in.ok() || in.left() >= 8) return invalid("malformed message of a template");
  if (given.sequence == 0) return invalid("message of a template with sequence 0");
  return made(std::move(given));
}

Result<Message> read_binding(std::uint16_t flags, std::span<char> payload) {
  ByteReader in(view(payload));
  Binding binding;
  binding.sequence = in.get<std::uint32_t>();
  binding.id = in.get<std::uint32_t>();
  binding.lane = in.get<std::uint64_t>();
  binding.number = in.get<std::uint64_t>();
  if (flags != 0 || !in.ok() || in.left() != 0) return invalid("malformed message of a binding");
  if (binding.sequence == 0) return invalid("message of a binding with sequence 0");
  return made(binding);
}

Result<Message> read_doorbell(std::uint16_t flags, std::span<char> payload) {
  ByteReader in(view(payload));
  const Doorbell doorbell{in.get<std::uint64_t>()};
  if (flags != 0 || !in.ok() || in.left() != 0) return invalid("malformed message of a doorbell");
  return made(doorbell);
}

template <typename Kind>
Result<Message> as_message(Result<Kind> read) {
  if (!read) return read.error();
  return Message(std::move(read.value()));
}

// The receive buffer is aligned and every length on the way here is a multiple of 8, so these bytes
// may be looked at as the records that they are. Nothing if the last one is not whole.
template <typename Record>
std::optional<std::span<const Record>> records_in(std::span<char> bytes) {
  static_assert(sizeof(Record) % 8 == 0 && alignof(Record) <= 8);
  if (bytes.size() % sizeof(Record) != 0) return std::nullopt;
  return std::span(reinterpret_cast<const Record*>(bytes.data()), bytes.size() / sizeof(Record));
}

Result<Message> read_kernel_events(std::uint16_t flags, std::span<char> payload) {
  const auto events = records_in<KernelEvent>(payload);
  if (flags != 0 || !events) return invalid("malformed message of kernel events");
  return made(KernelEvents{*events});
}

Result<Message> read_latencies(std::uint16_t flags, std::span<char> payload) {
  ByteReader in(view(payload));
  const auto zero = in.get<std::uint32_t>();
  const auto name = in.get_text();
  const std::size_t before = padded(8 + name.size());
  if (flags != 0 || zero != 0 || !in.ok()) return invalid("malformed message of latencies");
  const auto records = records_in<LatencySample>(payload.subspan(before));
  if (!records) return invalid("message of latencies that ends inside a record");
  return made(Latencies{name, *records});
}

template <typename Record>
std::string_view bytes_of(std::span<const Record> records) {
  return {reinterpret_cast<const char*>(records.data()), records.size_bytes()};
}

}  // namespace

void DatagramWriter::clear(std::uint64_t epoch) {
  bytes_.clear();
  ByteWriter out(bytes_);
  bytes_.append(kMagic);
  out.put(kVersion);
  out.put(std::uint16_t{0});
  out.put(epoch);
}

void DatagramWriter::message(std::uint16_t kind, std::uint16_t flags, std::size_t length) {
  ByteWriter out(bytes_);
  out.put(kind);
  out.put(flags);
  out.put(static_cast<std::uint32_t>(length));
}

void DatagramWriter::samples(std::uint64_t number, std::span<const Sample> samples,
                             SampleFields fields) {
  message(kSamples, fields, 8 + samples.size() * record_bytes(fields));
  ByteWriter out(bytes_);
  out.put(number);
  for (const Sample& sample : samples) {
    out.put(sample.x);
    if (fields & kWithY) out.put(sample.y);
    if (fields & kWithTime) out.put(std::int64_t{sample.time.count()});
  }
}

void DatagramWriter::request(std::uint32_t sequence, std::string_view text, Door door) {
  const std::size_t length = padded(8 + text.size());
  message(kRequest, door == Door::kPerson ? kPersonFlag : 0, length);
  ByteWriter out(bytes_);
  out.put(sequence);
  out.put_text(text);
  bytes_.append(length - 8 - text.size(), '\0');
}

void DatagramWriter::response(const Response& response) {
  const std::string_view reason = response.reason.substr(0, kReasonBytesMax);
  const bool has_text = response.error == 0 && response.text;
  const std::size_t more = response.error != 0 ? 8 + padded(reason.size())
                           : has_text          ? padded(4 + response.text->size())
                                               : 0;
  const auto flags =
      static_cast<std::uint16_t>((response.made == Made::kNew ? 0 : kWasThereFlag) |
                                 (has_text ? kTextFlag : 0) | response.decimals << kDecimalsShift);
  message(kResponse, flags, 16 + more);
  ByteWriter out(bytes_);
  out.put(response.sequence);
  out.put(response.error);
  out.put(response.number);
  if (has_text) {
    out.put_text(*response.text);
    bytes_.append(more - 4 - response.text->size(), '\0');
  }
  if (response.error == 0) return;
  out.put(response.at);
  out.put_text(reason);
  bytes_.append(padded(reason.size()) - reason.size(), '\0');
}

void DatagramWriter::dropped(std::uint64_t samples) {
  message(kDropped, 0, 8);
  ByteWriter(bytes_).put(samples);
}

void DatagramWriter::define_template(const Template& given) {
  std::size_t size = 16 + given.name.size() + given.blob.size() + 4 * given.voi_names.size();
  for (const std::string_view name : given.voi_names) size += name.size();
  message(kTemplate, 0, padded(size));
  ByteWriter out(bytes_);
  out.put(given.sequence);
  out.put(static_cast<std::uint32_t>(given.voi_names.size()));
  out.put_text(given.name);
  out.put_text(given.blob);
  for (const std::string_view name : given.voi_names) out.put_text(name);
  bytes_.append(padded(size) - size, '\0');
}

void DatagramWriter::blob(std::uint64_t number, std::string_view bytes) {
  message(kBlob, 0, 8 + padded(bytes.size()));
  ByteWriter(bytes_).put(number);
  bytes_.append(bytes);
  bytes_.append(padded(bytes.size()) - bytes.size(), '\0');
}

void DatagramWriter::kernel_events(std::span<const KernelEvent> events) {
  message(kKernelEvents, 0, events.size_bytes());
  bytes_.append(bytes_of(events));
}

void DatagramWriter::latencies(std::string_view name, std::span<const LatencySample> latencies) {
  const std::size_t before = padded(8 + name.size());
  message(kLatencies, 0, before + latencies.size_bytes());
  ByteWriter out(bytes_);
  out.put(std::uint32_t{0});
  out.put_text(name);
  bytes_.append(before - 8 - name.size(), '\0');
  bytes_.append(bytes_of(latencies));
}

void DatagramWriter::offer(const OfferedEvent& offered) {
  const std::size_t size = 12 + offered.system.size() + offered.format.size();
  message(kOfferedEvent, 0, padded(size));
  ByteWriter out(bytes_);
  out.put(offered.id);
  out.put_text(offered.system);
  out.put_text(offered.format);
  bytes_.append(padded(size) - size, '\0');
}

void DatagramWriter::source_records(std::span<const EventRecord> records) {
  std::size_t size = 0;
  for (const EventRecord& record : records) size += packed_bytes(record);
  message(kSourceRecords, 0, size);
  for (const EventRecord& record : records) append_record(bytes_, record);
}

void DatagramWriter::user_records(std::uint64_t number, std::span<const EventRecord> records) {
  std::size_t size = 8;
  for (const EventRecord& record : records) size += packed_bytes(record);
  message(kUserRecords, 0, size);
  ByteWriter(bytes_).put(number);
  for (const EventRecord& record : records) append_record(bytes_, record);
}

void DatagramWriter::packed_source_records(std::string_view records) {
  message(kSourceRecords, 0, records.size());
  bytes_.append(records);
}

void DatagramWriter::lost_events(std::uint64_t records) {
  message(kLostEvents, 0, 8);
  ByteWriter(bytes_).put(records);
}

void write_doorbell(std::uint64_t epoch, std::uint64_t lane, std::span<char, kDoorbellBytes> to) {
  char* at = to.data();
  const auto put = [&at](const auto& value) {
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
  };
  std::memcpy(at, kMagic.data(), kMagic.size());
  at += kMagic.size();
  put(kVersion);
  put(std::uint16_t{0});
  put(epoch);
  put(std::uint16_t{kDoorbell});
  put(std::uint16_t{0});
  put(std::uint32_t{8});
  put(lane);
}

void DatagramWriter::bind(const Binding& binding) {
  message(kBinding, 0, 24);
  ByteWriter out(bytes_);
  out.put(binding.sequence);
  out.put(binding.id);
  out.put(binding.lane);
  out.put(binding.number);
}

PackedSamples::PackedSamples(std::uint64_t number, SampleFields fields, std::span<char> records)
    : number_(number), fields_(fields), record_bytes_(record_bytes(fields)), records_(records) {}

std::span<const Sample> PackedSamples::in_place(std::chrono::nanoseconds now) {
  // The receive buffer is aligned and every length on the way here is a multiple of 8, so these
  // bytes may be looked at as the Samples that they are.
  const std::span<Sample> samples(reinterpret_cast<Sample*>(records_.data()), count());
  for (Sample& sample : samples) sample.time = clamped_past(sample.time, now);
  records_ = {};
  return samples;
}

std::span<const Sample> PackedSamples::unpack(std::span<Sample> scratch,
                                              std::chrono::nanoseconds now) {
  if (records_.empty()) return {};
  if (fields_ == kFull) return in_place(now);
  const std::size_t taken = std::min(scratch.size(), count());
  const char* from = records_.data();
  for (Sample& sample : scratch.first(taken)) {
    std::memcpy(&sample.x, from, 8);
    sample.y = 1;
    sample.time = now;
    if (fields_ & kWithY) std::memcpy(&sample.y, from + 8, 8);
    if (fields_ & kWithTime) {
      std::memcpy(&sample.time, from + 8, 8);
      sample.time = clamped_past(sample.time, now);
    }
    from += record_bytes_;
  }
  records_ = records_.subspan(taken * record_bytes_);
  return scratch.first(taken);
}

bool is_binary(std::string_view datagram) {
  return !datagram.empty() && datagram.front() == kMagic.front();
}

Result<DatagramReader> DatagramReader::open(std::span<char> datagram) {
  ByteReader in(view(datagram));
  if (in.take(kMagic.size()) != kMagic) return invalid("datagram with an unknown magic number");
  const auto version = in.get<std::uint16_t>();
  const auto zero = in.get<std::uint16_t>();
  const auto epoch = in.get<std::uint64_t>();
  if (!in.ok()) return invalid("datagram shorter than its header");
  if (version != kVersion || zero != 0) return invalid("datagram of an unknown version");
  return DatagramReader(epoch, datagram.subspan(kHeaderBytes));
}

std::optional<Result<Message>> DatagramReader::next() {
  if (rest_.empty()) return std::nullopt;
  ByteReader in(view(rest_));
  const auto kind = in.get<std::uint16_t>();
  const auto flags = in.get<std::uint16_t>();
  const auto length = in.get<std::uint32_t>();
  if (!in.ok() || length > in.left() || length % 8 != 0) {
    rest_ = {};
    return Result<Message>(invalid("message whose length does not fit its datagram"));
  }
  const auto payload = rest_.subspan(kMessageHeaderBytes, length);
  rest_ = rest_.subspan(kMessageHeaderBytes + length);
  switch (kind) {
    case kSamples:
      return read_samples(flags, payload);
    case kRequest:
      return read_request(flags, payload);
    case kResponse:
      return read_response(flags, payload);
    case kDropped:
      return read_dropped(flags, payload);
    case kBlob:
      return read_blob(flags, payload);
    case kTemplate:
      return read_template(flags, payload);
    case kKernelEvents:
      return read_kernel_events(flags, payload);
    case kLatencies:
      return read_latencies(flags, payload);
    case kBinding:
      return read_binding(flags, payload);
    case kDoorbell:
      return read_doorbell(flags, payload);
    case kOfferedEvent:
      return as_message(read_offered_event(flags, view(payload)));
    case kSourceRecords:
    case kUserRecords:
      return as_message(read_records(static_cast<EventKind>(kind), flags, payload));
    case kLostEvents:
      return as_message(read_lost_events(flags, view(payload)));
    default:
      return Result<Message>(invalid("message of an unknown kind"));
  }
}

}  // namespace tallyfs::wire
