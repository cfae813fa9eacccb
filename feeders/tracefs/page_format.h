// The self-description of the ring buffer's pages, as tracefs gives it in events/header_page. Fed
// with text, needs no kernel.
//
// Values; may be shared once made.
#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/tracing/format/format.h"

namespace tallyfs {

struct PageFormat {
  tracing::TraceField timestamp;
  tracing::TraceField commit;
  tracing::TraceField data;  // its size is that of a whole page without the header

  std::size_t page_bytes() const { return data.end(); }
};

// kInvalid likewise, and for a page that RingPage could not read (a commit of 2 bytes).
Result<PageFormat> parse_page_format(std::string_view text);

}  // namespace tallyfs
