#include "fs/daemon/transfer_formats.h"

#include <cstdint>
#include <limits>
#include <sstream>

#include "core/branch/saved_object.h"

namespace tallyfs {
namespace {

constexpr unsigned kKindsMax = std::numeric_limits<SavedKinds>::digits;

}  // namespace

std::string transfer_formats() {
  std::string all;
  for (unsigned kind = 0; kind < kKindsMax; ++kind) {
    const unsigned format = transfer_format(static_cast<SavedKind>(kind));
    if (format == 0) continue;
    if (!all.empty()) all.push_back(' ');
    all.append(std::to_string(kind)).append(":").append(std::to_string(format));
  }
  return all;
}

Result<void> check_handed_formats(const std::string& others) {
  std::istringstream in(others);
  for (std::string each; in >> each;) {
    std::istringstream fields(each);
    unsigned kind = 0, format = 0;
    char colon = 0;
    const bool is_pair = (fields >> kind >> colon >> format) && colon == ':' && fields.eof();
    if (is_pair && kind < kKindsMax && format == transfer_format(static_cast<SavedKind>(kind))) {
      continue;
    }
    std::string reason("the daemon that runs would leave what this version does not read");
    return Error{ErrorCode::kInvalid, reason.append(" (kind:format ").append(each).append(")")};
  }
  return {};
}

}  // namespace tallyfs
