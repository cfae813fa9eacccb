// The command line: the daemon's own options, and the options that mount(8), fstab and libfuse
// expect.
// Confined to the daemon's start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ledger.h"
#include "core/base/result.h"
#include "core/statistics/branch/statistics_branch.h"
#include "fs/daemon/privileges.h"
#include "fs/group_access.h"
#include "fs/handles.h"

namespace tallyfs {

struct DaemonOptions {
  std::string mount_point;
  std::vector<std::string> mount_options;  // for libfuse, our defaults among them
  bool auto_unmount = false;
  bool foreground = false;
  bool has_terminal = false;        // in the foreground of one
  bool keeper = true;               // a process of its own keeps the mount when the server dies
  bool reload = false;              // start no daemon, replace the one that is mounted
  bool tracefs = false;             // read the kernel's events
  bool over_tracefs = false;        // tracing/ alone, on top of a tracefs; both go at the end
  std::string subtree;              // the part of the tree that is mounted; empty: all of it
  std::string rules_file;           // of --rules; empty: there is none
  std::string state;                // of --state: the directory; empty: the default one, or none
  bool no_state = false;            // nothing outlives the daemon, whatever the default
  std::uint64_t state_period = 60;  // seconds
  std::uint64_t journal_bytes = 64u << 20;  // of the input since the last save; 0: none
  Identity owner;                   // of the files: the identity that mounts
  std::string run_as;               // USER[:GROUP]; empty: the daemon keeps its identity
  std::string group;                // whose members may read statistics; empty: none
  std::string write_group;          // whose members may write definitions; empty: none
  Groups groups;                    // of those two, once they are looked up
  std::string socket_path;          // empty: there is no default
  unsigned socket_permissions = 0666;
  unsigned queue_length = 0;
  statistics::MetricsSettings metrics;
  int sock_diag = -1;  // a netlink socket that systemd passed; -1: none
  Ledger::Limits ledger;
  Handles::Limits handles;
  std::string log_level;
};

// The options, or the status with which to exit at once: after --help and --version (0), or after
// an error that was printed on stderr (2).
struct ParsedOptions {
  std::optional<DaemonOptions> options;
  int exit_status = 0;
};
ParsedOptions parse_options(int argc, char** argv);

}  // namespace tallyfs
