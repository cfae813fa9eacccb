#include "core/base/shown_text.h"

#include <algorithm>

#include "core/base/text.h"

namespace tallyfs {

std::size_t append_shown(std::string& out, std::string_view text, std::size_t bytes_max,
                         std::size_t at) {
  text = text.substr(0, bytes_max);
  std::size_t column = 0;
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    const std::size_t end = std::min(text.find('\\', begin), text.size());
    const std::size_t before = std::min(std::max(at, begin), end) - begin;
    column += append_escaped(out, text.substr(begin, end - begin), 4 * (end - begin), before);
    if (end == text.size()) break;
    out.push_back('\\');
    column += at > end ? 1 : 0;
    begin = end;
  }
  return column;
}

}  // namespace tallyfs
