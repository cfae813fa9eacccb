// zstd, for blocks of the store. Any thread may call these.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tallyfs::past {

// kSmall takes several times as long, for bytes that are kept.
enum class Effort { kFast, kSmall };
// The frame has a sum of its content, so that damage is found.
std::string compress(std::string_view bytes, Effort effort);
// Nothing if it is no whole frame, its sum is wrong, or it does not hold exactly `size` bytes.
std::optional<std::string> decompress(std::string_view frame, std::size_t size);

}  // namespace tallyfs::past
