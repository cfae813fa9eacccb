// The commands of `tallyctl probe`. argv[0] is the word that names the command. Each returns an
// exit status of commands.h: 3 of a mount that takes no probes, or none of this user; 1 of all else
// that is refused.
#pragma once

namespace tallyfs {

int run_probe_list(int argc, char** argv);
int run_probe_count(int argc, char** argv);
int run_probe_latency(int argc, char** argv);
int run_probe_add(int argc, char** argv);
int run_probe_ls(int argc, char** argv);
int run_probe_rm(int argc, char** argv);
int run_probe_renew(int argc, char** argv);
int run_probe_cost(int argc, char** argv);

}  // namespace tallyfs
