#include "core/tree/error_log.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr std::string_view kCommand = "  Command: ";
// Longer than any entry: location, reason, text and caret, each byte escaped.
constexpr std::size_t kEntryBytesMax = 16 * 1024;

}  // namespace

std::string ErrorLog::text_of(const Entry& entry) {
  if (!entry.loaded.empty()) return entry.loaded;
  const Refusal& refusal = entry.refusal;
  const Refusal::Shown shown = refusal.shown();
  std::string text;
  text.append(" ").append(shown.where).append(refusal.is_warning ? ": warning: " : ": error: ");
  text.append(refusal.reason()).append("\n").append(kCommand).append(shown.text);
  text.append("\n").append(kCommand.size() + shown.column, ' ').append("^\n");
  return text;
}

void ErrorLog::drop(std::list<Entry>::iterator entry) {
  spare_.clear();
  spare_.splice(spare_.end(), entries_, entry);
}

void ErrorLog::drop_oldest() {
  const auto is_of_socket = [](const Entry& each) { return each.refusal.door == Source::kSocket; };
  while (std::ranges::count_if(entries_, is_of_socket) > std::ptrdiff_t{kSocketEntries}) {
    drop(std::ranges::find_if(entries_, is_of_socket));
  }
  while (entries_.size() > kEntries) drop(entries_.begin());
}

Result<std::string> ErrorLog::render(const CallContext&, std::size_t) const {
  const MutexLock lock(mutex_);
  std::string text;
  for (const Entry& entry : entries_) {
    append_timestamp(text, entry.refusal.time.monotonic);
    text.append(text_of(entry));
  }
  return text;
}

Timestamp ErrorLog::last_change(Timestamp) const {
  const MutexLock lock(mutex_);
  return last_change_;
}

Result<void> ErrorLog::write_line(std::string_view, const CallContext& call) {
  return truncate(call);
}

Result<void> ErrorLog::truncate(const CallContext& call) {
  const MutexLock lock(mutex_);
  entries_.clear();
  last_change_ = call.now;
  changes_ += 1;
  return {};
}

void ErrorLog::save(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  out.put(static_cast<std::uint32_t>(entries_.size()));
  for (const Entry& entry : entries_) {
    out.put(std::uint8_t{entry.refusal.door == Source::kSocket});
    out.put(std::int64_t{entry.refusal.time.monotonic.count()});
    out.put_text(std::string_view(text_of(entry)).substr(0, kEntryBytesMax));
  }
}

ErrorLog::Entry ErrorLog::load_entry(ByteReader& in, Boot boot) {
  const bool is_from_socket = in.get_flag();
  const std::chrono::nanoseconds time(in.get<std::int64_t>());
  Entry entry{.refusal = {}, .loaded = std::string(in.get_text())};
  entry.refusal.door = is_from_socket ? Source::kSocket : Source::kMount;
  if (boot == Boot::kThis) entry.refusal.time.monotonic = time;
  const std::string& text = entry.loaded;
  if (time.count() < 0 || text.size() > kEntryBytesMax || !text.ends_with('\n')) in.fail();
  return entry;
}

void ErrorLog::load(ByteReader& in, Boot boot, Timestamp now) {
  const auto size = in.get<std::uint32_t>();
  if (size > kEntries) return in.fail();
  std::list<Entry> loaded;
  for (std::uint32_t i = 0; i < size && in.ok(); ++i) loaded.push_back(load_entry(in, boot));
  const auto from_socket = std::ranges::count_if(
      loaded, [](const Entry& each) { return each.refusal.door == Source::kSocket; });
  if (from_socket > std::ptrdiff_t{kSocketEntries}) in.fail();
  if (!in.ok() || in.left() != 0) return in.fail();
  const MutexLock lock(mutex_);
  entries_.splice(entries_.begin(), loaded);
  drop_oldest();
  last_change_ = now;
  changes_ += 1;
}

bool ErrorLog::is_empty() const {
  const MutexLock lock(mutex_);
  return entries_.empty();
}

std::uint64_t ErrorLog::changes() const {
  const MutexLock lock(mutex_);
  return changes_;
}

}  // namespace tallyfs
