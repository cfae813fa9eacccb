// Which format of metrics a scraper gets, by its header Accept (RFC 9110), and whether it takes
// gzip. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tallyfs::web {

enum class Format : std::uint8_t { kText, kOpenMetrics, kProtobuf };
// Whether protobuf may be chosen: a part of the interfaces is served as text alone.
enum class Offered : std::uint8_t { kAll, kTexts };

struct Chosen {
  Format format = Format::kText;
  std::string content_type;
  bool takes_utf8 = false;  // names of any characters, by escaping=allow-utf-8
};

// The most specific range gives a format its weight. The highest weight wins, then the order of
// the header, then OpenMetrics, text, protobuf. If nothing fits, or if the winner has its weight
// from */* or text/* alone, it is text 0.0.4.
Chosen choose_format(std::string_view accept, Offered offered);

bool accepts_gzip(std::string_view accept_encoding);

}  // namespace tallyfs::web
