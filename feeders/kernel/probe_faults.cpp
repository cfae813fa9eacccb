#include "feeders/kernel/probe_faults.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "core/base/fd.h"
#include "core/base/text.h"
#include "program/cached_file.h"

namespace tallyfs {
namespace {

// The first word of a text, `PATH:OFFSET(COUNTER)`.
struct Place {
  std::string word, path;
  std::optional<std::uint64_t> offset;
  std::string counter;  // as it was written; empty: it has none
};

Place parse_place(std::string_view text) {
  const std::string_view word = text.substr(0, text.find(' '));
  const std::size_t colon = std::min(word.rfind(':'), word.size());
  const std::size_t parenthesis = std::min(word.find('(', colon), word.size());
  Place place{.word = std::string(word), .path = std::string(word.substr(0, colon))};
  const std::string_view offset = word.substr(0, parenthesis);
  place.offset = parse_unsigned(offset.substr(std::min(colon + 1, offset.size())));
  const std::string_view counter = word.substr(std::min(parenthesis + 1, word.size()));
  place.counter = counter.substr(0, counter.find(')'));
  return place;
}

std::optional<struct statx> status_of(const std::string& path) {
  const Fd file = open_cached(path);
  if (!file.valid()) return std::nullopt;
  struct statx status {};
  const int done = ::statx(file.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                           STATX_INO | STATX_SIZE | STATX_MTIME, &status);
  return done == 0 ? std::optional(status) : std::nullopt;
}

bool is_same_place(const Place& one, const Place& other) {
  if (!one.offset || one.offset != other.offset) return false;
  if (one.path == other.path) return true;
  const auto file = file_of(one.word);
  return file && *file != "-" && file == file_of(other.word);
}

}  // namespace

std::optional<std::string> file_of(std::string_view place) {
  if (!place.starts_with('/')) return std::nullopt;
  errno = 0;
  const auto status = status_of(parse_place(place).path);
  if (!status) return errno == ENOENT ? std::optional<std::string>("-") : std::nullopt;
  std::string text;
  for (const std::uint64_t each :
       {std::uint64_t{status->stx_dev_major}, std::uint64_t{status->stx_dev_minor},
        std::uint64_t{status->stx_ino}}) {
    text.append(std::to_string(each)).append(":");
  }
  const std::int64_t written = status->stx_mtime.tv_sec * 1'000'000'000 + status->stx_mtime.tv_nsec;
  return text.append(std::to_string(written));
}

std::string why_not_on(const std::vector<std::string>& places, const Error& error) {
  for (const std::string& text : places) {
    const Place place = parse_place(text);
    const auto status = status_of(place.path);
    if (!status || !place.offset || *place.offset < status->stx_size) continue;
    return place.word + " is beyond the end of the file, which has " +
           std::to_string(status->stx_size) + " bytes: remove the probe";
  }
  const std::string place = places.empty() ? "the probe" : parse_place(places.front()).word;
  const std::size_t cause = error.reason.rfind(": ");
  return "the kernel does not turn on " + place +
         (cause == std::string::npos ? "" : error.reason.substr(cause));
}

std::optional<std::string> counter_fault(std::string_view place,
                                         const std::vector<RealProbe>& probes) {
  const Place refused = parse_place(place);
  const auto counter = parse_unsigned(refused.counter);
  for (const RealProbe& each : probes) {
    const Place other = parse_place(each.text);
    const bool is_equal = other.counter.empty() == refused.counter.empty() &&
                          parse_unsigned(other.counter) == counter;
    if (is_equal || !is_same_place(refused, other)) continue;
    if (other.counter.empty()) return "another probe is at this place, without a counter";
    return "another probe is at this place, with the counter (" + other.counter +
           "): write it behind the offset";
  }
  return std::nullopt;
}

}  // namespace tallyfs
