// The conversions of the kernel's printf behind %p for bytes that a pointer leads to, and its
// helpers that make texts of bytes (Documentation/core-api/printk-formats.rst): addresses of
// networks, UUIDs, hardware addresses, bits. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tallyfs::tracing {

// The kind at the start of `text`, which follows a %p: "I4", "I6c", "ISpc", "M", "U", "bl". Empty:
// the kind is not known here.
std::string_view pointer_kind(std::string_view text);
// Appends the bytes in the form of that kind; '?' if there are too few. limit: of "bl" and "b", the
// number of bits that count.
void append_pointed(std::string& out, std::string_view kind, std::string_view bytes,
                    std::uint64_t limit);

// between: a blank gives "00 1f", an empty text "001f".
void append_hex_bytes(std::string& out, std::string_view bytes, std::string_view between);
// Appends numbers of 1, 2, 4 or 8 bytes: "{0x1,0x2}".
void append_array(std::string& out, std::string_view bytes, std::size_t size);
// Appends bits in words of 32, the first ones last: "00000000,0000000f".
void append_bits(std::string& out, std::string_view bytes);

}  // namespace tallyfs::tracing
