#include "feeders/text/series_bounds.h"

namespace tallyfs {

bool SeriesBounds::admit_interface(std::string_view interface) {
  if (interfaces_.contains(interface)) return true;
  if (interfaces_.size() == kInterfacesMax) return false;
  interfaces_.emplace(interface);
  return true;
}

void SeriesBounds::note_given_up(std::string_view name) {
  given_up_ += 1;
  last_given_up_ = name;
}

}  // namespace tallyfs
