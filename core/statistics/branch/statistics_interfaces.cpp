// What `create INTERFACE` and `define INTERFACE feed=` do, and which uids may feed an interface.
#include <optional>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/statistics/branch/command_text.h"
#include "core/statistics/branch/statistics_branch.h"

namespace tallyfs::statistics {

Result<StatisticsBranch::AskedInterface> StatisticsBranch::parse_interface(std::string_view words) {
  AskedInterface asked;
  Tokens tokens(words);
  for (;;) {
    if (asked.lifetime == Lifetime::kForGood) {
      if (const auto taken = take_lifetime(tokens)) asked.lifetime = taken.value();
    }
    const auto word = tokens.next();
    if (!word) return asked;
    if (!word->text.starts_with(kFeedKey)) {
      return invalid("an interface has no attribute but lifetime=feeder and feed=any or feed=owner",
                     word->at);
    }
    if (asked.feed) return invalid("feed is given twice", word->at);
    const auto feed = parse_feed(word->text.substr(kFeedKey.size()));
    if (!feed) return invalid("feed must be any or owner", word->at);
    asked.feed = {*feed, word->at};
  }
}

Result<StatisticsBranch::AskedInterface> StatisticsBranch::asked_interface(
    const wire::CommandLine& command) {
  if (wire::split_path(command.target.text).has_statistic) return AskedInterface{};
  auto asked = parse_interface(command.rest.text);
  if (!asked) return error_at(asked.error(), command.rest.at);
  return asked;
}

Result<Done> StatisticsBranch::create_interface(const wire::CommandLine& command,
                                                const AskedInterface& asked, const Sender& sender,
                                                Timestamp now) {
  InterfaceEntry* entry = find_interface(command.target.text);
  const wire::Made made = entry ? wire::Made::kWasThere : wire::Made::kNew;
  if (!entry) {
    const auto created = create_interface(command.target.text, sender.uid, now);
    if (!created) return error_at(created.error(), command.target.at);
    entry = find_interface(command.target.text);
    if (asked.feed) entry->interface->set_feed(asked.feed->value, now);
    note_changed(entry->name, Extent::kInterface);
  } else if (asked.lifetime == Lifetime::kForGood || entry->feeders.empty()) {
    return leave(command, *entry, asked, sender, now);
  } else if (auto allowed = may_change(*entry, sender.rights); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  if (asked.lifetime == Lifetime::kForGood) return Done{.made = made};
  const bool had_it = entry->feeders.contains(sender.pid);
  if (const auto added = entry->feeders.add(ledger_, entry->interface->uid(), sender.pid); !added) {
    if (made == wire::Made::kNew) forget(*entry, now);
    return error_at(added.error(), rest_at(command));
  }
  if (!had_it) {
    entry->changes += 1;
    note_changed(entry->name, Extent::kInterface);
  }
  if (made == wire::Made::kNew) return Done{.made = made};
  return leave(command, *entry, asked, sender, now);
}

// As it was made, so it stays.
Done StatisticsBranch::leave(const wire::CommandLine& command, const InterfaceEntry& entry,
                             const AskedInterface& asked, const Sender& sender, Timestamp now) {
  std::optional<Error> differs;
  const Feed feed = entry.interface->feed();
  if (asked.feed && asked.feed->value != feed) {
    differs = invalid("it exists with feed=" + std::string(spelled(feed)) +
                          " and stays so; to change it: define " + shown(entry.name) +
                          " feed=" + std::string(spelled(asked.feed->value)),
                      asked.feed->at);
  }
  return with_warning({.made = wire::Made::kWasThere}, command, sender, std::move(differs), now);
}

std::optional<Token> StatisticsBranch::feed_alone(const wire::CommandLine& command) {
  if (wire::split_path(command.target.text).has_statistic) return std::nullopt;
  Tokens tokens(command.rest.text);
  const auto word = tokens.next();
  const bool is_alone = word && word->text.starts_with(kFeedKey) && !tokens.next();
  return is_alone ? word : std::nullopt;
}

Result<Done> StatisticsBranch::define_feed(const wire::CommandLine& command, const Token& word,
                                           Timestamp now, const IsLate& is_late) {
  if (command.target.text == kOwnName) return own_interface(command.target.at);
  const auto asked = parse_interface(word.text);
  if (!asked) return error_at(asked.error(), command.rest.at + word.at);
  InterfaceEntry& entry = *find_interface(command.target.text);
  entry.changes += 1;  // as in absorb_cells()
  if (!entry.interface->set_feed(asked.value().feed->value, now, is_late)) {
    return Done{.is_cut = true};
  }
  note_changed(entry.name, Extent::kInterface);
  return Done{};
}

}  // namespace tallyfs::statistics
