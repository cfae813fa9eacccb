// Labels of a statistic's name, `latency{code:200,route:%2Fcart}`: as they are stored, typed and
// shown. All doors and screens use these functions, so that one statistic has one name.
//
//   name  = family [ "{" label *( "," label ) "}" [ end ] ]     web/latency is divided before
//   label = key [ ":" value ]
//
// Typed, a key or value may have blanks within it, `/`, `=` and `~`; a value in double quotes also
// `,`, `{` and `}`. %XX is any byte: `%22` a quote. Stored, labels have the escapes of
// encoded_name.h and are sorted bytewise, as tally-feed-statsd writes them. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tallyfs {

// The byte after the labels that begin at `open`, a `{`. npos: they have no end.
std::size_t labels_end(std::string_view text, std::size_t open);

// The one spelling of a name; a name without `{` is returned as it is. kInvalid, with the byte: a
// `{` or a quote without its end, two groups of labels, a label without a key, a key that stands
// twice, more than kNameBytesMax bytes. Whether the rest is a name is for is_name().
Result<std::string> stored_name(std::string_view typed);
// As stored_name(), for INTERFACE/STATISTIC, which its first `/` divides.
Result<std::string> stored_path(std::string_view typed);

// As stored_path(), of a pattern of the shell, which nothing makes invalid. Labels are sorted if
// their keys have no wildcards, and need no end: `latency{*`. An escape is no wildcard: `%2A` is a
// star, `\*`.
std::string stored_pattern(std::string_view typed);

// As people are shown a stored name, and may type it: only what is not printable stays %XX, and
// what would be read otherwise.
std::string shown_labels(std::string_view stored);

}  // namespace tallyfs
