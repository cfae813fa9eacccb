#include "tools/ctl/session.h"

#include <algorithm>
#include <utility>

#include "tools/ctl/commands.h"
#include "tools/tree/mount_table.h"

namespace tallyfs {

std::optional<int> Session::open() {
  terminal = find_terminal(options);
  look = look_of(options, terminal);
  if (!options.from.empty()) {
    auto opened = open_recording(options.from);
    if (!opened) return tallyfs::complain(kRefused, opened.error().reason);
    source = std::move(opened).value();
    return std::nullopt;
  }
  auto found = find_mount(options.mount);
  if (!found) return tallyfs::complain(kNoAnswer, found.error().reason);
  std::string path = std::move(found).value();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  source = open_mount(std::move(path));
  return std::nullopt;
}

std::optional<int> Session::refuse_dumb(const std::string& instead) const {
  if (!terminal.is_dumb) return std::nullopt;
  return tallyfs::complain(kWrongUsage, "this terminal shows no pictures (TERM=dumb); " + instead);
}

Result<Source::Next> Session::next() const {
  const bool is_each = options.every.empty() && !options.from.empty();
  return source->next(is_each ? std::chrono::microseconds(0) : options.period());
}

std::chrono::microseconds Session::period() const {
  const auto recorded = source->period();
  if (recorded.count() == 0) return options.period();
  return options.every.empty() ? recorded : std::max(recorded, options.period());
}

std::optional<int> Session::go_to_end() {
  while (source->mount().empty()) {
    const auto next = source->next(std::chrono::microseconds(0));
    if (!next) return tallyfs::complain(next.error());
    if (next.value() == Source::Next::kEnd) break;
  }
  return std::nullopt;
}

int status_of(const Error& error) {
  return error.code == ErrorCode::kInvalid ? kRefused : kNoAnswer;
}

int complain(const Error& error) { return complain(status_of(error), error.reason); }

}  // namespace tallyfs
