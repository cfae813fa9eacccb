#include "core/tree/file.h"

namespace tally {

std::optional<std::uint64_t> File::version(Moment) const { return std::nullopt; }

std::optional<Result<std::string>> File::take(Moment, std::size_t) { return std::nullopt; }

void File::opened(Moment) {}

bool File::waits() const { return false; }

Result<void> File::write_line(std::string_view, Moment) {
  return Error{ErrorCode::kNoAccess, "this file is for reading only"};
}

void File::truncate(Moment) {}

Result<void> Directory::remove_directory(std::string_view, Moment) {
  return Error{ErrorCode::kNotPermitted, "directories here cannot be removed"};
}

Result<void> Directory::remove_file(std::string_view, Moment) {
  return Error{ErrorCode::kNotPermitted, "files here cannot be removed"};
}

}  // namespace tally
