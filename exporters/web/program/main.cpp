// tally-web: a mounted tallyfs as a page, an API and metrics. It opens, reads and writes files of
// the mount, and nothing else of the daemon.
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "core/base/text.h"
#include "exporters/web/listen.h"
#include "exporters/web/mount_site.h"
#include "exporters/web/program/options.h"
#include "exporters/web/server.h"
#include "exporters/web/token.h"
#include "program/log.h"
#include "tools/past/store.h"
#include "tools/tree/mount_table.h"
#include "tools/tree/source.h"
#include "tools/tree/timed_file.h"

namespace tallyfs::web {
namespace {

constexpr int kNoMount = 3;
constexpr int kWrongUsage = 2;

int fail(int status, const std::string& reason) {
  const std::string line = "tally-web: " + reason + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  return status;
}

// Beside the daemon's socket, where systemd gives no directory.
Result<std::string> token_path(const Options& options, Source& source) {
  if (!options.token_file.empty()) return options.token_file;
  if (const char* const directory = std::getenv("RUNTIME_DIRECTORY")) {
    return std::string(directory) + "/web-token";
  }
  const auto tree = read_tree(source);
  if (!tree) return tree.error();
  const std::size_t slash = tree.value().socket.rfind('/');
  if (slash == std::string::npos) return invalid("no place for the token: give --token-file PATH");
  return tree.value().socket.substr(0, slash) + "/web-token";
}

// For users of other directories; control bytes escaped.
std::string full_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> full(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  std::string shown;
  append_escaped(shown, full ? full.get() : path.c_str(), 4096, 0);
  return shown;
}

Access access_of(const Options& options, std::string token, std::string file,
                 const Listening& listening) {
  Access made{.token = std::move(token), .token_file = std::move(file), .hosts = options.hosts};
  if (!listening.host.empty()) made.hosts.push_back(listening.host);
  if (options.opens_reading) made.statistics = made.metrics = Reading::kOpen;
  if (options.opens_metrics) made.metrics = Reading::kOpen;
  if (options.allows_changes) made.changing = Changing::kWithToken;
  return made;
}

// A terminal gets a URL that opens the page; others learn where the token is.
void say_ready(const std::string& url, const std::string& token, const std::string& file) {
  if (::isatty(STDOUT_FILENO) != 0) {
    std::printf("%s#token=%s\n", url.c_str(), token.c_str());
  } else {
    std::printf("READY\n%s (the token is in %s)\n", url.c_str(), file.c_str());
  }
  std::fflush(stdout);
  ::sd_notify(0, "READY=1");
}

void set_up_log(const Options& options) {
  const char* const journal = std::getenv("JOURNAL_STREAM");
  journal ? log_to_journal("tally-web") : log_to_stderr("tally-web");
  set_log_level(options.log_level);
}

int serve(const Options& options) {
  set_up_log(options);
  auto mount = find_mount(options.mount);
  if (!mount) return fail(kNoMount, mount.error().reason);
  while (mount.value().size() > 1 && mount.value().ends_with('/')) mount.value().pop_back();
  auto source = open_mount(mount.value());
  const auto path = token_path(options, *source);
  if (!path) return fail(kNoMount, path.error().reason);
  auto token = read_or_make_token(path.value());
  if (!token) return fail(1, token.error().reason);
  auto listening = listen_on(options.listen);
  if (!listening) return fail(1, listening.error().reason);
  if (!listening.value().is_loopback && !options.allows_plaintext) {
    return fail(kWrongUsage, options.listen +
                                 ": is not loopback, and there is no TLS; a proxy can "
                                 "do that, or --allow-plaintext");
  }
  Access access = access_of(options, token.value(), full_path(path.value()), listening.value());
  const auto serves = options.only_metrics ? MountSite::Serves::kMetrics : MountSite::Serves::kAll;
  const auto names = options.keeps_utf8 ? Scrape::Names::kUtf8 : Scrape::Names::kUnderscores;
  MountSite site(std::move(source),
                 {std::chrono::seconds(options.keep_s), past::store_named(options.store)},
                 std::move(access), serves, names);
  const std::string url = listening.value().url;
  // It handles signals before it is said to be ready.
  Server server(std::move(listening).value(), site);
  say_ready(url, token.value(), path.value());
  server.run();
  return 0;
}

}  // namespace
}  // namespace tallyfs::web

int main(int argc, char** argv) {
  tallyfs::web::Options options;
  if (const auto status = tallyfs::web::parse_options(argc, argv, options)) return *status;
  const int status = tallyfs::web::serve(options);
  if (tallyfs::left_a_thread_behind()) std::_Exit(status);
  return status;
}
