// Texts of senders as parts of the names of statistics. Bytes that have a meaning in
// `name{key:value,...}`, or that such names may not have, become %XX. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace tallyfs {

// Each byte as %XX.
void append_percent(std::string& out, std::string_view bytes);
// `% { } , / = ~ | "`, blanks, controls, unprintable characters and bytes that are not UTF-8 become
// %XX.
void append_encoded(std::string& out, std::string_view text);
// A whole name is encoded in the same way; "." and ".." are encoded, too.
std::string encoded_name(std::string_view name);

// Each %XX as its byte. keeps: whether the escape of that byte stays. A `%` without two hexadecimal
// digits after it stays, too.
std::string without_escapes(
    std::string_view text, bool (*keeps)(char) = [](char) { return false; });

}  // namespace tallyfs
