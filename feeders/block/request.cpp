#include "feeders/block/request.h"

namespace tallyfs {

char operation_of(std::string_view rwbs) {
  const bool flush_first = rwbs.size() > 1 && rwbs[0] == 'F' &&
                           std::string_view("RWDN").find(rwbs[1]) != std::string_view::npos;
  if (flush_first) return rwbs[1];
  return rwbs.empty() ? 'N' : rwbs[0];
}

}  // namespace tallyfs
