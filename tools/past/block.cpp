#include "tools/past/block.h"

#include <optional>
#include <utility>

#include "tools/past/bytes.h"
#include "tools/past/compression.h"

namespace tallyfs::past {
namespace {

constexpr std::size_t kParts = kStreams + 1;  // the heads come first

}  // namespace

void BlockBuilder::add(std::uint64_t series, const Column& column, const Column* more) {
  const Column none;
  if (!more) more = &none;
  if (size_++ == 0) first_ = series;
  put_number(heads_, series - (size_ == 1 ? 0 : last_));
  last_ = series;
  put_number(heads_, column.known() | more->known());
  put_number(heads_, column.sampled() | more->sampled());
  for (std::size_t i = 0; i < kStreams; ++i) {
    const auto stream = static_cast<Stream>(i);
    const std::size_t before = streams_[i].size();
    streams_[i].append(column.bytes_of(stream)).append(more->bytes_of(stream));
    put_number(heads_, streams_[i].size() - before);
  }
}

bool BlockBuilder::is_full() const {
  std::size_t bytes = heads_.size();
  for (const std::string& each : streams_) bytes += each.size();
  return size_ >= kBlockSeries || bytes >= kBlockBytes;
}

std::string BlockBuilder::take() {
  std::string made;
  std::string frames;
  const auto put = [&](const std::string& part) {
    const std::string frame = part.empty() ? "" : compress(part);
    put_number(made, part.size());
    put_number(made, frame.size());
    frames.append(frame);
  };
  put(heads_);
  for (const std::string& each : streams_) put(each);
  *this = {};
  return made.append(frames);
}

bool read_block(std::string_view block, const TakeColumn& take) {
  NumberReader reader(block);
  std::array<std::pair<std::uint64_t, std::uint64_t>, kParts> sizes;
  std::uint64_t sum = 0;
  for (auto& [unpacked, packed] : sizes) {
    unpacked = reader.number();
    packed = reader.number();
    if (unpacked > kUnpackedMax || (sum += unpacked) > kUnpackedMax) return false;
  }
  std::array<std::string, kParts> parts;
  for (std::size_t i = 0; i < kParts; ++i) {
    const auto& [unpacked, packed] = sizes[i];
    const std::string_view frame = reader.piece(packed);
    if (reader.has_failed()) return false;
    if (unpacked == 0) continue;
    auto part = decompress(frame, static_cast<std::size_t>(unpacked));
    if (!part) return false;
    parts[i] = *std::move(part);
  }
  NumberReader heads(parts.front());
  std::array<NumberReader, kStreams> streams;
  for (std::size_t i = 0; i < kStreams; ++i) streams[i] = NumberReader(parts[i + 1]);
  for (std::uint64_t series = 0; heads.left() > 0;) {
    ColumnBytes column;
    series += heads.number();
    column.known = heads.number();
    column.sampled = heads.number();
    for (std::size_t i = 0; i < kStreams; ++i) {
      column.streams[i] = streams[i].piece(heads.number());
      if (streams[i].has_failed()) return false;
    }
    if (heads.has_failed() || !take(series, column)) return false;
  }
  return true;
}

}  // namespace tallyfs::past
