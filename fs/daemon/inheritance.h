// What a keeper hands on to the program that goes on in its process after a reload: descriptors by
// number, and what cannot be found out anew. A text in the environment; the next program may be of
// another version, so the text begins with the number of its format.
//
// Values, confined to their holder. The variable gives no rights: a user that sets it by hand
// starts a program with descriptors of that user.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "feeders/intake/feed_socket.h"
#include "fs/daemon/privileges.h"
#include "fs/daemon/watchdog.h"

namespace tallyfs {

struct Inheritance {
  static constexpr const char* kVariable = "TALLYFS_INHERITANCE";
  // kCheck: answers whether it could go on (ProgramCheck), and changes nothing.
  enum class Purpose { kGoOn, kCheck };

  Purpose purpose = Purpose::kGoOn;
  int handover = -1;
  int handed_state = -1;
  int descriptors_in = -1;  // the ends of the DescriptorQueue; a program of format 1 has none
  int descriptors_out = -1;
  int kept = -1;  // Handover::kept_fd(); a program of format 1 or 2 has none
  int mount = -1;
  int sock_diag = -1;  // -1 here and below: there is none
  int feeder = -1;
  int state = -1;
  FeedSocket::Transferred socket;
  std::vector<Watchdog::Transferred> watchdog;
  Identity owner;
  bool has_terminal = false;
  std::string mount_point;
  std::string rules_file;  // of --rules, absolute; empty: there is none
  std::string formats;     // transfer_formats(); empty: of a version that has none
};

std::string to_text(const Inheritance& inheritance);
// kInvalid: another format, or not whole.
Result<Inheritance> parse_inheritance(const std::string& text);
// Of this process, and removes the variable. Nothing: it was started in another way.
std::optional<Result<Inheritance>> take_inheritance();
// All descriptors in it.
std::vector<int> descriptors_of(const Inheritance& inheritance);

}  // namespace tallyfs
