// Ownership: a thing belongs to the uid that made it. That uid, root and the daemon's own uid may
// change it. Every branch and the intake decide by this one rule.
//
// An immutable value.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tallyfs {

class Ownership {
 public:
  // The words of a refusal: `the <thing> belongs to uid 7<since>; only it or root may <change>`.
  struct Words {
    std::string_view thing;
    std::string_view change;
    std::string_view since = {};
  };

  explicit Ownership(uid_t daemon) : daemon_(daemon) {}

  uid_t daemon() const { return daemon_; }
  // Root and the daemon's uid may do everything.
  bool is_trusted(uid_t sender) const { return sender == 0 || sender == daemon_; }
  bool may_change(uid_t owner, uid_t sender) const {
    return is_trusted(sender) || sender == owner;
  }
  // kNotPermitted, with token_at 0.
  Result<void> check(uid_t owner, uid_t sender, const Words& words) const {
    if (may_change(owner, sender)) return {};
    return Error{ErrorCode::kNotPermitted,
                 "the " + std::string(words.thing) + " belongs to uid " + std::to_string(owner) +
                     std::string(words.since) + "; only it or root may " +
                     std::string(words.change),
                 0};
  }

 private:
  uid_t daemon_;
};

}  // namespace tallyfs
