#include "core/tree/file.h"

namespace tallyfs {

Subject File::subject() const { return nullptr; }

Result<std::size_t> File::text_length(const CallContext& call, std::size_t bytes_max) const {
  const auto text = render(call, bytes_max);
  if (!text) return text.error();
  return text.value().size();
}

std::optional<std::size_t> File::last_length() const { return std::nullopt; }

std::optional<std::uint64_t> File::version(Moment) const { return std::nullopt; }

Result<std::string> File::render_seen(const CallContext& call, std::size_t bytes_max) const {
  return render(call, bytes_max);
}

FileState File::look(Moment now) const { return {version(now), last_change(now)}; }

std::optional<Result<std::string>> File::take(const CallContext&, std::size_t) {
  return std::nullopt;
}

void File::opened(const CallContext&) {}

Result<std::shared_ptr<const void>> File::hold(Access, Moment) const {
  return std::shared_ptr<const void>();
}

bool File::waits() const { return false; }

Result<void> File::write_line(std::string_view, const CallContext&) {
  return Error{ErrorCode::kNoAccess, "this file is for reading only"};
}

void File::note_refused_line() {}

std::optional<Error> File::remark(std::string_view) const { return std::nullopt; }

Result<void> File::write_by(pid_t, std::string_view text, const CallContext& call) {
  return write_line(text, call);
}

std::optional<std::uint64_t> File::news(Moment) const { return std::nullopt; }

bool File::has_priority_news() const { return false; }
bool File::is_stream() const { return false; }

std::string File::next(const CallContext&) { return {}; }

std::size_t File::page_bytes() const { return 0; }

bool File::is_over() const { return true; }

File::WriteUnit File::write_unit() const { return WriteUnit::kLine; }

std::size_t File::write_bytes_max() const { return SIZE_MAX; }

Result<void> File::truncate(const CallContext&) { return {}; }

void Directory::entered(Moment) {}

Result<void> Directory::make_directory(std::string_view, Moment) {
  return Error{ErrorCode::kNotPermitted, "no directories can be made here"};
}

Result<void> Directory::remove_directory(std::string_view, Moment) {
  return Error{ErrorCode::kNotPermitted, "directories here cannot be removed"};
}

Result<void> Directory::remove_file(std::string_view, Moment) {
  return Error{ErrorCode::kNotPermitted, "files here cannot be removed"};
}

std::shared_ptr<const void> Directory::hold() const { return nullptr; }

}  // namespace tallyfs
