#include "core/tree/error_log.h"

#include <algorithm>

#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr std::string_view kCommand = "  Command: ";
// As far behind the end of the text stands the caret for what is missing there.
constexpr std::size_t kBehindMax = 2;

}  // namespace

void ErrorLog::report(Source source, std::string_view location, std::string_view text,
                      const Error& error, Moment now) {
  enter(source, location, ": error: ", text, error, now);
}

void ErrorLog::warn(Source source, std::string_view location, std::string_view text,
                    const Error& error, Moment now) {
  enter(source, location, ": warning: ", text, error, now);
}

void ErrorLog::enter(Source source, std::string_view location, std::string_view kind,
                     std::string_view text, const Error& error, Moment now) {
  std::string entry;
  append_timestamp(entry, now.monotonic);
  entry.push_back(' ');
  append_escaped(entry, error.location.empty() ? location : error.location,
                 kTextBytes + kNameBytesMax, 0);
  entry.append(kind).append(error.reason).append("\n").append(kCommand);
  const std::size_t token_at = error.token_at == Error::kNoToken ? 0 : error.token_at;
  const std::string_view command = error.text.empty() ? text : std::string_view(error.text);
  std::size_t column = append_escaped(entry, command, kTextBytes, token_at);
  const std::size_t behind = token_at - std::min(token_at, command.size());
  column += std::min(behind, kBehindMax);
  entry.append("\n").append(kCommand.size() + column, ' ').append("^\n");

  const MutexLock lock(mutex_);
  const auto from_socket = [](const Entry& old) { return old.source == Source::kSocket; };
  if (source == Source::kSocket && std::count_if(entries_.begin(), entries_.end(), from_socket) >=
                                       std::ptrdiff_t{kSocketEntries}) {
    entries_.erase(std::find_if(entries_.begin(), entries_.end(), from_socket));
  } else if (entries_.size() == kEntries) {
    entries_.pop_front();
  }
  entries_.push_back({source, std::move(entry)});
  last_change_ = now;
}

Result<std::string> ErrorLog::render(const CallContext&, std::size_t) const {
  const MutexLock lock(mutex_);
  std::string text;
  for (const Entry& entry : entries_) text.append(entry.text);
  return text;
}

Moment ErrorLog::last_change(Moment) const {
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
  return {};
}

}  // namespace tallyfs
