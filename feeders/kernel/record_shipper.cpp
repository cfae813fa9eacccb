#include "feeders/kernel/record_shipper.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tallyfs {
namespace {

constexpr std::size_t kCommonBytes = 8;

}  // namespace

void RecordShipper::event_with_stack(std::chrono::nanoseconds time, std::size_t cpu,
                                     std::span<const char> payload, std::span<const char> stack) {
  if (payload.size() < kCommonBytes || payload.size() > wire::kRecordBytesMax) return;
  const auto id = read_raw<std::uint16_t>(payload.data());
  const Shipping& shipping = shipping_[id];
  if (shipping.names_name_at != 0) learn_name(shipping, payload);
  if (!shipping.wanted) return;
  const auto pid = read_raw<std::int32_t>(payload.data() + kPidAt);
  EventRecord record{.event = id,
                     .time_ns = static_cast<std::uint64_t>(time.count()),
                     .cpu = cpus_[cpu],
                     .pid = pid,
                     .bytes = {payload.data(), payload.size()}};
  if (shipping.with_name) record.comm = names_.name(record.pid);
  if (!stack.empty()) record.stack = frames_of(stack);
  wire::append_record(packed_, record);
  packed_records_ += 1;
  if (packed_.size() >= kPackedMax) flush();
}

void RecordShipper::learn_name(const Shipping& shipping, std::span<const char> payload) {
  const std::size_t end = std::max<std::size_t>(shipping.names_pid_at + sizeof(std::int32_t),
                                                shipping.names_name_at + TaskNames::kNameBytes);
  if (payload.size() < end) return;
  names_.tell(read_raw<std::int32_t>(payload.data() + shipping.names_pid_at),
              {payload.data() + shipping.names_name_at, TaskNames::kNameBytes});
}

// A kernel may end a stack with an address of all ones.
std::span<const std::uint64_t> RecordShipper::frames_of(std::span<const char> stack) {
  const std::size_t count = std::min(stack.size() / sizeof frames_[0], frames_.size());
  std::memcpy(frames_.data(), stack.data(), count * sizeof frames_[0]);
  const auto all = std::span(frames_).first(count);
  const auto end = std::ranges::find(all, std::numeric_limits<std::uint64_t>::max());
  return symbols_.without_tracing(all.first(static_cast<std::size_t>(end - all.begin())));
}

void RecordShipper::flush() {
  if (packed_.empty() && lost_ == 0) return;
  datagram_.clear(0);
  if (lost_ != 0) datagram_.lost_events(lost_);
  if (!packed_.empty()) datagram_.packed_source_records(packed_);
  if (send()) {
    lost_ = 0;
    shipped_ += packed_records_;
  } else {
    lost_ += packed_records_;
  }
  packed_.clear();
  packed_records_ = 0;
}

bool RecordShipper::send() {
  if (!link_.connected() && !link_.connect()) return false;
  if (link_.send(datagram_.bytes()) == Link::Sent::kDone) return true;
  link_.wait_for_room(kWaitMax);
  return link_.send(datagram_.bytes()) == Link::Sent::kDone;
}

}  // namespace tallyfs
