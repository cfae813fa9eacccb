#include "fs/absent_file.h"

namespace tallyfs {
namespace {

Error absent() { return {ErrorCode::kStale, "it was removed meanwhile"}; }

}  // namespace

std::shared_ptr<File> AbsentFile::present() const {
  const auto found = tree_.file(node_);
  return found ? found.value() : nullptr;
}

std::shared_ptr<const void> AbsentFile::hold_directory() const {
  const auto path = tree_.path_of(node_);
  if (!path) return nullptr;
  std::shared_ptr<const void> held;
  NodeId directory = path.value().from;
  while (!held && directory != Tree::kRoot) {
    const auto rules = tree_.rules(directory);
    const auto info = tree_.info(directory);
    if (!rules || !info) break;
    held = rules.value()->hold();
    directory = info.value().parent;
  }
  return held;
}

Result<std::string> AbsentFile::render(const CallContext& call, std::size_t bytes_max) const {
  const auto file = present();
  return file ? file->render(call, bytes_max) : absent();
}

Result<std::size_t> AbsentFile::text_length(const CallContext& call, std::size_t bytes_max) const {
  const auto file = present();
  return file ? file->text_length(call, bytes_max) : absent();
}

std::optional<std::uint64_t> AbsentFile::version(Moment now) const {
  const auto file = present();
  return file ? file->version(now) : std::nullopt;
}

Result<std::string> AbsentFile::render_seen(const CallContext& call, std::size_t bytes_max) const {
  const auto file = present();
  return file ? file->render_seen(call, bytes_max) : absent();
}

std::optional<Result<std::string>> AbsentFile::take(const CallContext& call,
                                                    std::size_t bytes_max) {
  const auto file = present();
  return file ? file->take(call, bytes_max) : std::nullopt;
}

FileState AbsentFile::look(Moment now) const {
  const auto file = present();
  return file ? file->look(now) : FileState{std::nullopt, facts_.last_change};
}

Moment AbsentFile::last_change(Moment now) const {
  const auto file = present();
  return file ? file->last_change(now) : facts_.last_change;
}

void AbsentFile::opened(const CallContext& call) {
  if (const auto file = present()) file->opened(call);
}

Result<std::shared_ptr<const void>> AbsentFile::hold(Access access, Moment now) const {
  const auto file = present();
  return file ? file->hold(access, now) : hold_directory();
}

bool AbsentFile::waits() const {
  const auto file = present();
  return file && file->waits();
}

std::optional<std::uint64_t> AbsentFile::news(Moment now) const {
  const auto file = present();
  return file ? file->news(now) : facts_.news;
}

std::string AbsentFile::next(const CallContext& call) {
  const auto file = present();
  return file ? file->next(call) : std::string();
}

bool AbsentFile::is_over() const {
  const auto file = present();
  return !file || file->is_over();
}

std::size_t AbsentFile::write_bytes_max() const {
  const auto file = present();
  return file ? file->write_bytes_max() : File::write_bytes_max();
}

Result<void> AbsentFile::write_line(std::string_view line, const CallContext& call) {
  const auto file = present();
  return file ? file->write_line(line, call) : absent();
}

void AbsentFile::note_refused_line() {
  if (const auto file = present()) file->note_refused_line();
}

std::optional<Error> AbsentFile::remark(std::string_view line) const {
  const auto file = present();
  return file ? file->remark(line) : std::nullopt;
}

Result<void> AbsentFile::write_by(pid_t writer, std::string_view text, const CallContext& call) {
  const auto file = present();
  return file ? file->write_by(writer, text, call) : absent();
}

Result<void> AbsentFile::truncate(const CallContext& call) {
  const auto file = present();
  return file ? file->truncate(call) : absent();
}

}  // namespace tallyfs
