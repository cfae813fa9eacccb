#include "exporters/web/gzip.h"

#include <zlib.h>

#include <algorithm>

namespace tallyfs::web {

std::string gzip(std::string_view text) {
  constexpr int kGzipWindow = 15 + 16;
  constexpr int kMemory = 8;
  z_stream stream{};
  if (::deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return {};
  }
  std::string made(::deflateBound(&stream, text.size()), '\0');
  // zlib does not write to its input, but its type says so.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(made.data());
  stream.avail_out = static_cast<uInt>(made.size());
  const int status = ::deflate(&stream, Z_FINISH);
  made.erase(std::min<std::size_t>(stream.total_out, made.size()));
  ::deflateEnd(&stream);
  return status == Z_STREAM_END ? made : std::string();
}

}  // namespace tallyfs::web
