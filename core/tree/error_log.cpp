#include "core/tree/error_log.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr std::string_view kCommand = "  Command: ";
constexpr std::size_t kReasonBytes = 1024;
// The caret for a missing word is at most so many columns after the end of the text.
constexpr std::size_t kBehindMax = 2;
// Longer than any entry: location, reason, text and caret, each byte escaped.
constexpr std::size_t kEntryBytesMax = 16 * 1024;

// Escapes and bounds each text, so that none forges an entry. Quotations in a reason are escaped
// already.
Refusal refusal_of(ErrorLog::Author author, std::string_view location, std::string_view text,
                   const Error& error, Timestamp now) {
  Refusal made{.door = author.source,
               .uid = author.uid,
               .time = now,
               .reason = error.reason.substr(0, kReasonBytes)};
  append_escaped(made.where, error.location.empty() ? location : error.location,
                 ErrorLog::kTextBytes + kNameBytesMax, 0);
  const std::size_t token_at = error.token_at == Error::kNoToken ? 0 : error.token_at;
  const std::string_view command = error.text.empty() ? text : std::string_view(error.text);
  made.column = append_escaped(made.text, command, ErrorLog::kTextBytes, token_at);
  made.column += std::min(token_at - std::min(token_at, command.size()), kBehindMax);
  return made;
}

}  // namespace

void ErrorLog::report(Author author, std::string_view location, std::string_view text,
                      const Error& error, Timestamp now) {
  enter(refusal_of(author, location, text, error, now));
}

void ErrorLog::warn(Author author, std::string_view location, std::string_view text,
                    const Error& error, Timestamp now) {
  Refusal refusal = refusal_of(author, location, text, error, now);
  refusal.is_warning = true;
  enter(std::move(refusal));
}

void ErrorLog::enter(Refusal refusal) {
  constexpr std::size_t kAround = 64;  // more than the words and breaks of an entry
  std::string entry;
  entry.reserve(refusal.where.size() + refusal.reason.size() + refusal.text.size() +
                refusal.column + kAround);
  entry.append(" ").append(refusal.where).append(refusal.is_warning ? ": warning: " : ": error: ");
  entry.append(refusal.reason).append("\n").append(kCommand).append(refusal.text);
  entry.append("\n").append(kCommand.size() + refusal.column, ' ').append("^\n");
  {
    const MutexLock lock(mutex_);
    entries_.push_back({refusal.door, refusal.time.monotonic, std::move(entry)});
    drop_oldest();
    last_change_ = refusal.time;
    changes_ += 1;
  }
  if (history_) history_->add(std::move(refusal));
}

void ErrorLog::drop_oldest() {
  while (std::ranges::count(entries_, Source::kSocket, &Entry::source) >
         std::ptrdiff_t{kSocketEntries}) {
    entries_.erase(std::ranges::find(entries_, Source::kSocket, &Entry::source));
  }
  while (entries_.size() > kEntries) entries_.pop_front();
}

Result<std::string> ErrorLog::render(const CallContext&, std::size_t) const {
  const MutexLock lock(mutex_);
  std::string text;
  for (const Entry& entry : entries_) {
    append_timestamp(text, entry.time);
    text.append(entry.text);
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
    out.put(std::uint8_t{entry.source == Source::kSocket});
    out.put(std::int64_t{entry.time.count()});
    out.put_text(std::string_view(entry.text).substr(0, kEntryBytesMax));
  }
}

ErrorLog::Entry ErrorLog::load_entry(ByteReader& in, Boot boot) {
  const bool is_from_socket = in.get_flag();
  const std::chrono::nanoseconds time(in.get<std::int64_t>());
  Entry entry{.source = is_from_socket ? Source::kSocket : Source::kMount,
              .time = boot == Boot::kThis ? time : std::chrono::nanoseconds(0),
              .text = std::string(in.get_text())};
  if (time.count() < 0 || entry.text.size() > kEntryBytesMax || !entry.text.ends_with('\n')) {
    in.fail();
  }
  return entry;
}

void ErrorLog::load(ByteReader& in, Boot boot, Timestamp now) {
  const auto size = in.get<std::uint32_t>();
  if (size > kEntries) return in.fail();
  std::deque<Entry> loaded;
  for (std::uint32_t i = 0; i < size && in.ok(); ++i) loaded.push_back(load_entry(in, boot));
  const auto from_socket = std::ranges::count(loaded, Source::kSocket, &Entry::source);
  if (from_socket > std::ptrdiff_t{kSocketEntries}) in.fail();
  if (!in.ok() || in.left() != 0) return in.fail();
  const MutexLock lock(mutex_);
  entries_.insert(entries_.begin(), loaded.begin(), loaded.end());
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
