// Carries out lines of the socket for statistics and interfaces (core/wire/FORMAT.md).
//
// Confined to the lock of the StatisticsBranch, but for the functions that parse.
#pragma once

#include <optional>

#include "core/base/line_progress.h"
#include "core/statistics/branch/applied_rules.h"
#include "core/statistics/branch/registry.h"
#include "core/statistics/branch/saved_state.h"
#include "core/statistics/definition/change.h"
#include "core/statistics/definition/feed.h"
#include "core/tree/error_log.h"
#include "core/wire/line.h"

namespace tallyfs::statistics {

// The attributes that a line asks for an interface, as far as it names them.
struct AskedInterface {
  Lifetime lifetime = Lifetime::kForGood;
  std::optional<Requested<Feed>> feed{};
};

// The interface's words of a command; without any, of one for a statistic. kInvalid.
Result<AskedInterface> asked_interface(const wire::CommandLine& command);
// The word of `define INTERFACE feed=...`; nullopt: the command is for statistics.
std::optional<Token> feed_alone(const wire::CommandLine& command);

// `create INTERFACE` and `define INTERFACE feed=`.
class InterfaceCommands {
 public:
  // All outlive it. errors: nullptr if warnings are not kept.
  InterfaceCommands(Registry& registry, PendingChanges& pending, InterfaceRights rights,
                    ErrorLog* errors)
      : registry_(registry), pending_(pending), rights_(rights), errors_(errors) {}

  Result<Done> create(const wire::CommandLine& command, const AskedInterface& asked,
                      const Sender& sender, Timestamp now);
  // word: that of feed_alone(). The interface is there, and the sender may change it.
  Result<Done> define_feed(const wire::CommandLine& command, const Token& word, Timestamp now,
                           const IsLate& is_late);

 private:
  Done leave(const wire::CommandLine& command, const InterfaceEntry& entry,
             const AskedInterface& asked, const Sender& sender, Timestamp now);

  Registry& registry_;
  PendingChanges& pending_;
  const InterfaceRights rights_;
  ErrorLog* const errors_;
};

class LineCommands {
 public:
  // All outlive it. errors: nullptr if warnings are not kept.
  LineCommands(Registry& registry, AppliedRules& rules, PendingChanges& pending,
               InterfaceRights rights, ErrorLog* errors)
      : registry_(registry),
        rules_(rules),
        pending_(pending),
        rights_(rights),
        errors_(errors),
        of_interfaces_(registry, pending, rights, errors) {}

  // The target is the statistic's stored name. asked: asked_interface() of the command.
  Result<Done> create(const wire::CommandLine& command, const AskedInterface& asked,
                      const Sender& sender, Timestamp now);
  // A part of the work may be left (Done::is_cut) by define() and remove().
  Result<Done> define(const wire::CommandLine& command, const Sender& sender, Timestamp now,
                      const LineStep& step);
  Result<Done> remove(const wire::CommandLine& command, uid_t sender, Timestamp now,
                      const IsLate& is_late);
  Result<Done> attach(const wire::CommandLine& command, uid_t sender);

 private:
  // For a statistic that exists.
  Result<Done> leave(const wire::CommandLine& command, const InterfaceEntry& owner, Done done,
                     const Sender& sender, Timestamp now);
  // kInvalid: the samples of the line and those that the statistic has do not add up.
  Result<void> agree_on_units(const wire::CommandLine& command, const InterfaceEntry& owner,
                              const Sender& sender) const;
  bool is_ruled(const wire::CommandLine& command);
  Result<bool> define_default(const InterfaceEntry& entry, std::string_view text, Timestamp now,
                              Strictness strictness);
  Result<Done> create_view(const wire::CommandLine& command, const Sender& sender, Timestamp now);
  // The answer to the feeder.
  Done named(StatisticEntry& entry, wire::Made made);

  Registry& registry_;
  AppliedRules& rules_;
  PendingChanges& pending_;
  const InterfaceRights rights_;
  ErrorLog* const errors_;
  InterfaceCommands of_interfaces_;
};

}  // namespace tallyfs::statistics
