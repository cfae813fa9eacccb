// Makes ring buffer pages by hand, for tests; the layout is told in feeders/tracefs/ring_page.h.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/bytes.h"

namespace tallyfs {

class PageMaker {
 public:
  explicit PageMaker(std::uint64_t time_ns) : time_ns_(time_ns) {}

  PageMaker& word(std::uint32_t type, std::uint32_t delta) {
    ByteWriter(data_).put(type | delta << 5);
    return *this;
  }
  PageMaker& number(std::uint32_t value) {
    ByteWriter(data_).put(value);
    return *this;
  }
  // A record of a multiple of 4 bytes, up to 112.
  PageMaker& record(std::uint32_t delta, const std::string& payload) {
    word(static_cast<std::uint32_t>(payload.size() / 4), delta);
    data_ += payload;
    return *this;
  }
  PageMaker& long_record(std::uint32_t delta, const std::string& payload) {
    word(0, delta).number(static_cast<std::uint32_t>(payload.size() + 4));
    data_ += payload;
    return *this;
  }

  // flags: bits 31 and 30 of commit; behind_data: what follows the events.
  std::string page(std::uint32_t flags = 0, const std::string& behind_data = "") const {
    std::string bytes;
    ByteWriter out(bytes);
    out.put(time_ns_);
    out.put(std::uint64_t{flags | static_cast<std::uint32_t>(data_.size())});
    bytes += data_ + behind_data;
    bytes.resize(4096);
    return bytes;
  }
  std::size_t used() const { return 16 + data_.size(); }

 private:
  std::uint64_t time_ns_;
  std::string data_;
};

}  // namespace tallyfs
