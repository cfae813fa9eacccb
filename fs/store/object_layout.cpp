#include "fs/store/object_layout.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "core/base/bytes.h"

namespace tallyfs {
namespace {

constexpr std::string_view kStoreMagic("tallysto", 8);
constexpr std::uint32_t kStoreFormat = 1;

}  // namespace

std::string store_header() {
  std::string bytes(kStoreMagic);
  ByteWriter out(bytes);
  out.put(kStoreFormat);
  out.put(crc32c(bytes));
  return bytes;
}

std::string head_of(const SavedObject& object, std::uint16_t occurrence) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put(object.kind);
  out.put(object.format);
  out.put(occurrence);
  out.put(static_cast<std::uint16_t>(object.label.size()));
  bytes.append(object.label);
  return bytes;
}

std::string name_of(std::uint16_t kind, std::string_view label, std::uint16_t occurrence) {
  std::string name;
  ByteWriter out(name);
  out.put(kind);
  out.put(occurrence);
  return name.append(label);
}
std::uint16_t kind_of(std::string_view name) { return ByteReader(name).get<std::uint16_t>(); }

std::string_view label_of(std::string_view name) {
  return name.substr(2 * sizeof(std::uint16_t));
}
std::string_view whole_of(std::string_view label) { return label.substr(0, label.find('/')); }

std::uint64_t hash_of(const SavedObject& object) {
  return std::hash<std::string_view>()(object.bytes) ^ (std::uint64_t{object.format} << 48);
}

Error no_space(const char* what) {
  return {ErrorCode::kNoSpace, std::string("cannot ") + what + ": " + std::strerror(errno)};
}

Result<void> write_at(int memory, std::uint64_t offset, std::span<iovec> pieces) {
  while (!pieces.empty()) {
    const ssize_t done = ::pwritev(memory, pieces.data(), static_cast<int>(pieces.size()),
                                   static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return no_space("write into the memory of the keeper");
    offset += static_cast<std::uint64_t>(done);
    auto left = static_cast<std::size_t>(done);
    while (!pieces.empty() && left >= pieces.front().iov_len) {
      left -= pieces.front().iov_len;
      pieces = pieces.subspan(1);
    }
    if (pieces.empty()) break;
    pieces.front().iov_base = static_cast<char*>(pieces.front().iov_base) + left;
    pieces.front().iov_len -= left;
  }
  return {};
}

iovec piece_of(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

Result<void> write_at(int memory, std::uint64_t offset, std::string_view bytes) {
  iovec piece = piece_of(bytes);
  return write_at(memory, offset, {&piece, 1});
}

}  // namespace tallyfs
