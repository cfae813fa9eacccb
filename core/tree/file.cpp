#include "core/tree/file.h"

namespace tallyfs {

Subject File::subject() const { return nullptr; }

std::optional<std::size_t> File::last_length() const { return std::nullopt; }

std::optional<std::uint64_t> File::version(Timestamp) const { return std::nullopt; }

const Observed* File::observed() const { return nullptr; }

FileState File::state(Timestamp now) const {
  if (const Observed* const its = observed()) return its->look(now);
  return {version(now), last_change(now)};
}

std::optional<Result<std::string>> File::take(const CallContext&, std::size_t) {
  return std::nullopt;
}

void File::opened(const CallContext&) {}

Result<std::shared_ptr<const void>> File::hold(Access, Timestamp) const {
  return std::shared_ptr<const void>();
}

bool File::waits() const { return false; }

Result<void> File::write_line(std::string_view, const CallContext&) {
  return Error{ErrorCode::kNoAccess, "this file is for reading only"};
}

LineReviewer* File::reviewer() { return nullptr; }

std::optional<std::uint64_t> File::news(Timestamp) const { return std::nullopt; }

Stream* File::stream() { return nullptr; }

File::WriteUnit File::write_unit() const { return WriteUnit::kLine; }

Marker* File::marker() { return nullptr; }

Result<void> File::truncate(const CallContext&) { return {}; }

void Directory::entered(Timestamp) {}

Result<void> Directory::make_directory(std::string_view, Timestamp) {
  return Error{ErrorCode::kNotPermitted, "no directories can be made here"};
}

Result<void> Directory::remove_directory(std::string_view, Timestamp) {
  return Error{ErrorCode::kNotPermitted, "directories here cannot be removed"};
}

Result<void> Directory::remove_file(std::string_view, Timestamp) {
  return Error{ErrorCode::kNotPermitted, "files here cannot be removed"};
}

std::shared_ptr<const void> Directory::hold() const { return nullptr; }

}  // namespace tallyfs
