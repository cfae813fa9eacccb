// A daemon as its feeders see it: a socket that takes datagrams and answers. The test sets the
// answers; serve() answers as a daemon that refuses nothing. Confined to the calling thread.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/fd.h"
#include "core/base/near_time.h"
#include "core/wire/binary.h"
#include "fake_lane.h"
#include "switch_page.h"
#include "tests/unit/receiving_socket.h"

namespace tallyfs {

using Log = std::vector<std::string>;

class FakeDaemon {
 public:
  static constexpr std::uint64_t kEpoch = 0xAAAA0001;

  explicit FakeDaemon(std::string path, std::uint64_t daemon_epoch = kEpoch)
      : epoch(daemon_epoch),
        path_(std::move(path)),
        fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    ::unlink(path_.c_str());
    const sockaddr_un own = address_of(path_);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  }
  ~FakeDaemon() {
    if (fd_.valid()) ::unlink(path_.c_str());
  }
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  // ---- what it is like

  std::uint64_t epoch;
  std::set<std::string> there;         // made by others before
  std::map<std::string, int> refuses;  // by target or first word: the errno
  std::set<std::string> ignores;       // requests, by their whole text, that get no response
  std::set<std::string> withholds;     // first words of requests whose descriptor does not arrive
  bool takes_channels = false;         // for answers
  Fd channel;                          // the last that was taken
  std::unique_ptr<SwitchPage> page;    // none: `switches` is refused
  std::unique_ptr<FakeLane> lane;      // none: `shapes` and what follows are refused

  // ---- by hand

  struct Datagram {
    std::uint64_t epoch = 0;
    std::size_t bytes = 0;
    std::vector<std::pair<std::uint32_t, std::string>> requests;  // sequence, text
    Log log;
  };
  // The next that is there. Samples are counted, and where they go is in the log.
  std::optional<Datagram> take() {
    const std::span<char> buffer(reinterpret_cast<char*>(buffer_.data()), 8 * buffer_.size());
    const ssize_t size = receive(buffer);
    if (size < 0) return std::nullopt;
    Datagram datagram{.bytes = static_cast<std::size_t>(size)};
    auto reader = wire::DatagramReader::open(buffer.first(datagram.bytes));
    if (!reader) {
      ADD_FAILURE() << "no datagram of the FORMAT: " << reader.error().reason;
      return datagram;
    }
    datagram.epoch = reader.value().epoch();
    while (auto message = reader.value().next()) {
      if (!*message) {
        ADD_FAILURE() << "a bad message: " << message->error().reason;
        continue;
      }
      take_message(datagram, message->value());
    }
    return datagram;
  }
  void respond(const std::vector<wire::Response>& responses, const Fd* attached = nullptr) {
    wire::DatagramWriter writer(epoch);
    for (const auto& each : responses) writer.response(each);
    send(writer.bytes(), attached ? std::vector<int>{attached->get()} : std::vector<int>{});
  }
  // Drops what is there.
  void drop_all() {
    char byte = 0;
    while (::recv(fd_.get(), &byte, 1, 0) >= 0) {
    }
  }
  // To the sender of the last datagram, over its channel if that was taken.
  void send(std::string_view bytes, const std::vector<int>& attached = {}) {
    iovec vector{const_cast<char*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
    msghdr header{};
    if (!channel.valid()) {
      header.msg_name = &feeder_;
      header.msg_namelen = feeder_size_;
    }
    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    if (!attached.empty()) {
      const std::size_t fds_bytes = attached.size() * sizeof(int);
      header.msg_control = control.data();
      header.msg_controllen = CMSG_SPACE(fds_bytes);
      cmsghdr* const part = CMSG_FIRSTHDR(&header);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(fds_bytes);
      std::memcpy(CMSG_DATA(part), attached.data(), fds_bytes);
    }
    ::sendmsg(channel.valid() ? channel.get() : fd_.get(), &header, MSG_NOSIGNAL);
  }

  // ---- by itself

  // Answers all that is there; says what was in it, in its order.
  Log serve() {
    Log log;
    while (const auto datagram = take()) {
      log.insert(log.end(), datagram->log.begin(), datagram->log.end());
      largest = std::max(largest, datagram->bytes);
      for (const auto& [sequence, text] : datagram->requests) respond_one(sequence, text);
    }
    return log;
  }
  // Waits for something to serve, no longer than that.
  void wait(std::chrono::milliseconds time_max) {
    pollfd waited{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, static_cast<int>(time_max.count()));
  }
  // Ends, and saves its state: the socket is there, and refuses what is sent.
  void refuse() { ::shutdown(fd_.get(), SHUT_RD); }
  // Dies: what is in its queue is lost.
  void end() {
    ::unlink(path_.c_str());
    fd_.reset();
  }
  // The statistic is no longer there: its number is void.
  void remove(const std::string& target) {
    if (const auto found = numbers_.find(target); found != numbers_.end()) {
      if (page) page->set(static_cast<std::uint32_t>(found->second), 0, 1);
      numbers_.erase(found);
    }
    made_.erase(target);
  }

  std::uint64_t number_of(const std::string& target) const {
    const auto found = numbers_.find(target);
    return found == numbers_.end() ? 0 : found->second;
  }
  void switch_on(const std::string& target) { flip(target, 1); }
  void switch_off(const std::string& target) { flip(target, 0); }
  // The whole of its switch.
  void set_route(const std::string& target, std::uint32_t on) { flip(target, on); }

  // What it has gathered: the samples by their statistic, and what was said of drops.
  std::map<std::string, std::vector<Sample>> samples;
  std::vector<std::uint64_t> records;  // the times of those of events
  std::uint64_t dropped = 0;
  std::size_t largest = 0;  // datagram served, in bytes

  std::uint64_t count() const {
    std::uint64_t count = 0;
    for (const auto& [target, some] : samples) count += some.size();
    return count;
  }
  std::vector<std::int64_t> xs(const std::string& target) const {
    std::vector<std::int64_t> xs;
    const auto found = samples.find(target);
    if (found == samples.end()) return xs;
    for (const Sample& sample : found->second) xs.push_back(sample.x);
    return xs;
  }

 private:
  void take_message(Datagram& datagram, wire::Message& message) {
    if (const auto* request = std::get_if<wire::Request>(&message)) {
      datagram.requests.emplace_back(request->sequence, request->text);
      datagram.log.push_back(request->text.empty() ? "(ping)" : std::string(request->text));
    } else if (auto* packed = std::get_if<wire::PackedSamples>(&message)) {
      take_samples(datagram, *packed);
    } else if (const auto* said = std::get_if<wire::Dropped>(&message)) {
      dropped += said->samples;
      datagram.log.push_back("dropped " + std::to_string(said->samples));
    } else if (const auto* blob = std::get_if<wire::PackedBlob>(&message)) {
      std::string target = "?";
      for (const auto& [name, number] : numbers_) {
        if (number == blob->number) target = name;
      }
      datagram.log.push_back("blob " + target);
    } else if (const auto* given = std::get_if<wire::Template>(&message)) {
      datagram.requests.emplace_back(given->sequence, "template " + std::string(given->name));
      datagram.log.push_back(datagram.requests.back().second);
    } else if (const auto* some = std::get_if<wire::Latencies>(&message)) {
      datagram.log.push_back("latencies " + std::string(some->name) + " " +
                             std::to_string(some->latencies.size()));
    } else if (const auto* binding = std::get_if<wire::Binding>(&message)) {
      if (lane) lane->bound[binding->id] = binding->number;
      datagram.requests.emplace_back(binding->sequence, "bind");
      datagram.log.push_back("bind");
    } else if (std::holds_alternative<wire::Doorbell>(message)) {
      datagram.log.push_back("(bell)");
    } else if (auto* packed_records = std::get_if<wire::PackedEvents>(&message)) {
      take_records(datagram, *packed_records);
    } else {
      ADD_FAILURE() << "a feeder that answers";
    }
  }
  void take_samples(Datagram& datagram, wire::PackedSamples& packed) {
    std::string target = "?";
    for (const auto& [name, number] : numbers_) {
      if (number == packed.number()) target = name;
    }
    if (datagram.epoch != epoch) target = "?";
    std::string line = target;
    std::array<Sample, 64> scratch;
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    for (auto some = packed.unpack(scratch, now); !some.empty();
         some = packed.unpack(scratch, now)) {
      for (const Sample& sample : some) {
        samples[target].push_back(sample);
        line += " " + std::to_string(sample.x);
        if (sample.y != 1) line += "x" + std::to_string(sample.y);
      }
    }
    datagram.log.push_back(line);
  }

  // As "web/done pid 7 'cat': " and the fields' bytes, each as two digits.
  void take_records(Datagram& datagram, wire::PackedEvents& packed) {
    std::string target = "?";
    for (const auto& [name, number] : numbers_) {
      if (datagram.epoch == epoch && number == packed.number()) target = name;
    }
    std::array<EventRecord, 64> scratch;
    // Times of a test's own clock, of less than a day, stay as they are.
    for (auto some = packed.unpack(scratch, kNearMax); !some.empty();
         some = packed.unpack(scratch, kNearMax)) {
      for (const EventRecord& record : some) {
        records.push_back(record.time_ns);
        std::string line =
            target + " '" + std::string(record.comm.data(), record.comm.size()) + "' ";
        for (const char c : record.bytes)
          line += std::to_string(static_cast<unsigned char>(c)) + ".";
        datagram.log.push_back(line);
      }
    }
    EXPECT_FALSE(packed.broken());
  }

  // A descriptor that is not wanted is closed by the kernel.
  ssize_t receive(std::span<char> buffer) {
    iovec vector{buffer.data(), buffer.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr header{};
    header.msg_name = &feeder_;
    header.msg_namelen = sizeof feeder_;
    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = takes_channels ? CMSG_LEN(sizeof(int)) : 0;
    const ssize_t size = ::recvmsg(fd_.get(), &header, MSG_CMSG_CLOEXEC);
    if (size < 0) return size;
    feeder_size_ = header.msg_namelen;
    const cmsghdr* const part = CMSG_FIRSTHDR(&header);
    if (part && part->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
      channel.reset(fd);
    }
    return size;
  }

  void respond_one(std::uint32_t sequence, const std::string& text) {
    if (ignores.contains(text)) return;
    const std::string verb = text.substr(0, text.find(' '));
    const std::string rest = text.size() > verb.size() ? text.substr(verb.size() + 1) : "";
    const std::string target = rest.substr(0, rest.find(' '));
    wire::Response made{.sequence = sequence};
    for (const std::string& key : {verb, target}) {
      const auto found = refuses.find(key);
      if (found != refuses.end()) made.error = static_cast<std::uint32_t>(found->second);
    }
    if (verb == "switches" && !page) made.error = EINVAL;
    const bool is_of_lane = verb == "shapes" || verb == "lane" || verb == "tails" || verb == "bind";
    if (is_of_lane && !lane) made.error = EINVAL;
    if (made.error != 0) return respond({made});
    if (verb == "switches") {
      made.number = page->bytes();
      return respond({made}, withholds.contains(verb) ? nullptr : &page->fd());
    }
    if (is_of_lane) return respond_of_lane(made, verb, rest);
    if (verb == "create") {
      const bool is_new = made_.insert(target).second && !there.contains(target);
      made.made = is_new ? wire::Made::kNew : wire::Made::kWasThere;
      if (target.find('/') != std::string::npos) made.number = give_number(target, text);
    }
    if (verb == "event") made.number = give_number(event_target(rest), text);
    if (verb == "subsystem" || verb == "object") made.number = give_number(target, text);
    if (verb == "remove") remove(target);
    respond({made});
  }
  void respond_of_lane(wire::Response& made, const std::string& verb, const std::string& rest) {
    if (verb == "bind") return respond({made});
    if (verb == "lane") {
      lane->make_file(std::stoul(rest));
      made.number = FakeLane::kNumber;
      return respond({made}, withholds.contains(verb) ? nullptr : &lane->file->fd());
    }
    const SealedMemory& asked = verb == "shapes" ? lane->shapes : lane->tails;
    made.number = asked.bytes();
    respond({made}, withholds.contains(verb) ? nullptr : &asked.fd());
  }
  // Of `define SYS/NAME ...`.
  static std::string event_target(const std::string& rest) {
    const std::string from = rest.substr(rest.find(' ') + 1);
    return from.substr(0, from.find(' '));
  }
  void flip(const std::string& target, std::uint32_t on) {
    const std::uint64_t number = number_of(target);
    page->set(static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32), on);
  }
  std::uint64_t give_number(const std::string& target, const std::string& text) {
    if (const auto found = numbers_.find(target); found != numbers_.end()) return found->second;
    const std::uint64_t number = ++generation_ << 32 | next_slot_++;
    numbers_[target] = number;
    if (page) flip(target, text.find(" on=1") != std::string::npos ? 1 : 0);
    return number;
  }

  const std::string path_;
  Fd fd_;
  std::array<std::uint64_t, 32 * 1024> buffer_;
  sockaddr_un feeder_{};
  socklen_t feeder_size_ = 0;
  std::set<std::string> made_;
  std::map<std::string, std::uint64_t> numbers_;
  std::uint64_t generation_ = 0;
  std::uint64_t next_slot_ = 3;
};

}  // namespace tallyfs
