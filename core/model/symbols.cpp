#include "core/model/symbols.h"

#include "core/base/text.h"

namespace tallyfs {

std::string place_text(const Symbols& symbols, std::uint64_t address, Offset offset) {
  const Symbols::Place place = symbols.place(address);
  std::string text = place.name;
  if (text.empty()) {
    append_hex(text, address);
    return text;
  }
  if (offset == Offset::kShown) {
    text.push_back('+');
    append_hex(text, place.offset);
    text.push_back('/');
    append_hex(text, place.size);
  }
  if (!place.module.empty()) text.append(" [").append(place.module).append("]");
  return text;
}

}  // namespace tallyfs
