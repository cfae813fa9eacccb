#include <lzma.h>

#include <algorithm>
#include <cstdint>

#include "program/untrusted/packed_symbols.h"

namespace tallyfs {
namespace {

constexpr std::size_t kStepBytes = std::size_t{4} << 20;

class Unpacking {
 public:
  Unpacking() : is_ready_(::lzma_stream_decoder(&stream_, kUnpackingMax, 0) == LZMA_OK) {}
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;
  ~Unpacking() { ::lzma_end(&stream_); }

  Result<std::vector<char>> run(std::string_view packed, std::size_t bytes_max);

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  const bool is_ready_;
};

// A step grows the memory by no more than is needed: twice as much might be refused.
Result<std::vector<char>> Unpacking::run(std::string_view packed, std::size_t bytes_max) {
  if (!is_ready_) return Error{ErrorCode::kTooBig, "unpacking it takes too much memory", 0};
  std::vector<char> bytes;
  stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream_.avail_in = packed.size();
  for (;;) {
    const std::size_t known = bytes.size();
    if (known == bytes_max) return Error{ErrorCode::kTooBig, "it unpacks to too much", 0};
    bytes.reserve(std::min(known + kStepBytes, bytes_max));
    bytes.resize(std::min(known + kStepBytes, bytes_max));
    stream_.next_out = reinterpret_cast<std::uint8_t*>(bytes.data() + known);
    stream_.avail_out = bytes.size() - known;
    const lzma_ret done = ::lzma_code(&stream_, LZMA_FINISH);
    bytes.resize(bytes.size() - stream_.avail_out);
    if (done == LZMA_STREAM_END) return bytes;
    if (done == LZMA_MEMLIMIT_ERROR || done == LZMA_MEM_ERROR) {
      return Error{ErrorCode::kTooBig, "unpacking it takes too much memory", 0};
    }
    if (done != LZMA_OK || stream_.avail_out > 0) return invalid("it is not what xz packs", 0);
  }
}

}  // namespace

Result<std::vector<char>> unpack(std::string_view packed, std::size_t bytes_max) {
  return Unpacking().run(packed, bytes_max);
}

}  // namespace tallyfs
