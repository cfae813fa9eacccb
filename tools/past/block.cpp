#include "tools/past/block.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "tools/past/bytes.h"

namespace tallyfs::past {

void BlockBuilder::add(std::uint64_t series, unsigned precision, const Column& column,
                       const Column* more, const DerivedViews& views) {
  if (size_++ == 0) first_ = series;
  put_number(columns_.heads(), series - (size_ == 1 ? 0 : last_));
  last_ = series;
  columns_.pack(column, more, pieces_, precision, views);
}

std::string BlockBuilder::take(Effort effort) {
  std::string made;
  std::string frames;
  for (const std::string& part : columns_.take()) {
    const std::string frame = part.empty() ? "" : compress(part, effort);
    put_number(made, part.size());
    if (!part.empty()) put_number(made, frame.size());
    frames.append(frame);
  }
  *this = BlockBuilder(pieces_, series_max_);
  return made.append(frames);
}

bool read_parts(const Parts& parts, std::uint64_t pieces, const WantedSeries& wanted,
                const TakeStored& take) {
  ColumnUnpacker columns(parts);
  NumberReader& heads = columns.heads();
  std::uint64_t series = 0;
  for (std::size_t size = 0; heads.left() > 0; ++size) {
    const std::uint64_t more = heads.number();
    if (size == kBlockSeriesMax || (size > 0 && more == 0)) return false;
    series += more;
    if (series > wanted.last) return true;
    auto head = columns.read_head();
    if (!head) return false;
    const auto id_of = [&](const DerivedView& view) {
      return series + static_cast<std::uint64_t>(view.distance);
    };
    std::vector<DerivedView>& views = head->views;
    std::erase_if(views, [&](const DerivedView& each) { return !wanted.has(id_of(each)); });
    const bool is_wanted = wanted.has(series);
    const TakePoint put = [&](unsigned number, Point&& point) {
      for (const DerivedView& each : views) {
        if (!(each.points >> number & 1)) continue;
        const Precisions precisions{head->precision, each.precision};
        take(id_of(each), number, derived_point(point, each.how, precisions));
      }
      if (is_wanted) take(series, number, std::move(point));
    };
    const bool is_read = is_wanted || !views.empty();
    if (!columns.unpack(*head, pieces, is_read ? &put : nullptr)) return false;
  }
  return true;
}

bool read_block(std::string_view block, std::uint64_t pieces, const WantedSeries& wanted,
                const TakeStored& take) {
  NumberReader reader(block);
  std::array<std::pair<std::uint64_t, std::uint64_t>, kParts> sizes;
  std::uint64_t sum = 0;
  for (auto& [unpacked, packed] : sizes) {
    unpacked = reader.number();
    packed = unpacked > 0 ? reader.number() : 0;
    if (unpacked > kUnpackedMax || (sum += unpacked) > kUnpackedMax) return false;
  }
  Parts parts;
  for (std::size_t i = 0; i < kParts; ++i) {
    const auto& [unpacked, packed] = sizes[i];
    const std::string_view frame = reader.piece(packed);
    if (reader.has_failed()) return false;
    if (unpacked == 0) continue;
    auto part = decompress(frame, static_cast<std::size_t>(unpacked));
    if (!part) return false;
    parts[i] = *std::move(part);
  }
  return read_parts(parts, pieces, wanted, take);
}

}  // namespace tallyfs::past
