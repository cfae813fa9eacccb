// Texts of senders as parts of the names of statistics, and as help=. Bytes that have a meaning
// there, or that such words may not have, become %XX. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tallyfs {

// The value of a hexadecimal digit of either case; nothing: it is none.
constexpr std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}
constexpr bool is_hex(char c) { return hex_digit(c).has_value(); }

// Each byte as %XX.
void append_percent(std::string& out, std::string_view bytes);
// `% { } , / = ~ | "`, blanks, controls, unprintable characters and bytes that are not UTF-8 become
// %XX.
void append_encoded(std::string& out, std::string_view text);
// A whole name is encoded in the same way; "." and ".." are encoded, too.
std::string encoded_name(std::string_view name);
// A text as the one word that help= has (core/statistics/definition/GRAMMAR.md): blanks, controls,
// `%`, `"`, unprintable characters and bytes that are not UTF-8 become %XX. "-" is encoded, too.
std::string encoded_help(std::string_view text);

// Each %XX as its byte. keeps: whether the escape of that byte stays. A `%` without two hexadecimal
// digits after it stays, too.
std::string without_escapes(
    std::string_view text, bool (*keeps)(char) = [](char) { return false; });

}  // namespace tallyfs
