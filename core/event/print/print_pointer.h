// What the kernel's printf has behind %p for bytes that a pointer leads to, and its helpers that
// make texts of bytes (Documentation/core-api/printk-formats.rst): addresses of networks, UUIDs,
// hardware addresses, bits. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tallyfs {

// kinds: what stands at the start of `text`, behind a %p: "I4", "I6c", "ISpc", "M", "U", "bl";
// empty: nothing that is known here.
std::string_view pointer_kind(std::string_view text);
// Shows bytes so; '?' if they are too few for that. limit: of "bl" and "b", how many bits count.
void append_pointed(std::string& out, std::string_view kind, std::string_view bytes,
                    std::uint64_t limit);

// "00 1f" with a blank between, "001f" with nothing.
void append_hex_bytes(std::string& out, std::string_view bytes, std::string_view between);
// Of numbers of 1, 2, 4 or 8 bytes: "{0x1,0x2}".
void append_array(std::string& out, std::string_view bytes, std::size_t size);
// Bits in words of 32, the first ones last: "00000000,0000000f".
void append_bits(std::string& out, std::string_view bytes);

}  // namespace tallyfs
