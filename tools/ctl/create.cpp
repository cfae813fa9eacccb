// tallyctl create and rm: lines for the daemon's socket.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "tools/ctl/commands.h"
#include "tools/ctl/session.h"
#include "tools/ctl/socket_command.h"
#include "tools/ctl/typed_words.h"
#include "tools/ctl/what.h"
#include "tools/display/type_lines.h"
#include "tools/tree/definition_file.h"

namespace tallyfs {
namespace {

constexpr CommandText kCreateText = {
    "create", "Makes a statistic, with its interface.",
    "  tallyctl create web/us type=range on=1                        min, avg, max\n"
    "  tallyctl create web/bytes type=array scale=log2 base_interval=1 range_min=0 on=1\n"
    "  tallyctl create db/queries on=1 units=queries                 a counter\n"
    "  tallyctl create 'web/us{route:/cart}' type=range on=1         with a label"};
constexpr CommandText kRmText = {"rm", "Removes interfaces, statistics and views, with their data.",
                                 "  tallyctl rm web                  an interface\n"
                                 "  tallyctl rm web/us               a statistic or a view\n"
                                 "  tallyctl rm 'block-*'            all whose names match"};

int remove_one(Session& session, const std::string& socket, const view::Interface& interface,
               const view::Statistic& statistic) {
  if (statistic.key("of").empty()) {
    return send_command(socket, "remove " + interface.name + "/" + statistic.name);
  }
  const auto done =
      write_definition(session.source->mount(), interface.name, "name=" + statistic.name + " of=");
  return done ? kDone : complain(done.error());
}

int remove(Session& session, const std::string& socket, const Selection& selection) {
  if (selection.is_whole) return send_command(socket, "remove " + selection.interface);
  const auto interface = read_interface(*session.source, selection.interface);
  if (!interface) return complain(interface.error());
  int status = kDone;
  for (const view::Statistic* each : selected(interface.value(), selection)) {
    const int one = remove_one(session, socket, interface.value(), *each);
    if (one != kDone) status = one;
  }
  return status;
}

// A sample of a statistic that is off is accepted and counts nothing.
void warn_if_off(Session& session, const std::string& what) {
  const auto made = select_one(*session.source, what);
  if (!made || what.find('/') == std::string::npos) return;
  const auto interface = read_interface(*session.source, made.value().interface);
  if (!interface) return;
  const auto* const statistic = find_typed(interface.value(), made.value().statistic);
  if (!statistic || statistic->on) return;
  complain(kDone, "it is off, so its samples do not count: tallyctl on '" + what + "'");
}

}  // namespace

int run_create(int argc, char** argv) {
  Session session;
  CommandLine line = command_line(kCreateText, session.options);
  line.add_arguments("WHAT", session.options.words, "INTERFACE/STATISTIC [KEY=VALUE...]",
                     {.least = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  const auto socket = socket_of(session);
  if (!socket) return complain(socket.error());
  const auto& words = session.options.words;
  const std::string& what = words[0];
  std::string keys;
  for (const std::string& word : std::span(words).subspan(1)) {
    keys.append(keys.empty() ? "" : " ").append(stored_word(word));
  }
  const int status =
      send_command(socket.value(), "create " + what + (keys.empty() ? "" : " " + keys));
  const bool is_switched =
      std::ranges::any_of(words, [](const std::string& word) { return word.starts_with("on="); });
  if (status == kDone && !is_switched) warn_if_off(session, what);
  // send_command() has printed the reason: perhaps what the type also needs.
  const auto example = view::completed_line(keys, nullptr);
  if (status != kRefused || !example) return status;
  return complain(status, "with all that the type needs: create '" + what + "' " + *example);
}

int run_rm(int argc, char** argv) {
  Session session;
  CommandLine line = command_line(kRmText, session.options);
  line.add_arguments("WHAT", session.options.words, "interfaces or statistics, or patterns",
                     {.least = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  const auto found = select(*session.source, session.options.words);
  if (!found) return complain(found.error());
  const auto socket = socket_of(session);
  if (!socket) return complain(socket.error());
  int status = kDone;
  for (const Selection& each : found.value()) {
    const int one = remove(session, socket.value(), each);
    if (one != kDone) status = one;
  }
  return status;
}

}  // namespace tallyfs
