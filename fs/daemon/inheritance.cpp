#include "fs/daemon/inheritance.h"

#include <cstdlib>
#include <sstream>
#include <utility>

namespace tallyfs {
namespace {

constexpr int kFormat = 3;
constexpr int kWithoutKept = 2;
constexpr int kWithoutDescriptors = 1;
constexpr std::size_t kWatchdogsMax = 8;
constexpr std::size_t kPathMax = 4096;

void put_text(std::ostream& out, const std::string& text) {
  out << ' ' << text.size() << ':' << text;
}

bool get_text(std::istream& in, std::string& text) {
  std::size_t size = 0;
  if (!(in >> size) || size > kPathMax || in.get() != ':') return false;
  text.resize(size);
  return static_cast<bool>(in.read(text.data(), static_cast<std::streamsize>(size)));
}

bool get_socket(std::istream& in, FeedSocket::Transferred& socket) {
  bool has_file = false;
  std::pair<dev_t, ino_t> file;
  long long queue = -1;
  in >> socket.fd >> socket.lock >> has_file >> file.first >> file.second >>
      socket.made_directory >> queue;
  if (has_file) socket.bound = file;
  if (queue >= 0) socket.queue_length = static_cast<unsigned>(queue);
  return get_text(in, socket.path);
}

bool get_watchdogs(std::istream& in, std::vector<Watchdog::Transferred>& watchdogs) {
  std::size_t count = 0;
  if (!(in >> count) || count > kWatchdogsMax) return false;
  watchdogs.resize(count);
  for (Watchdog::Transferred& each : watchdogs) in >> each.pipe >> each.id;
  return static_cast<bool>(in);
}

// What an older format has not stays as it is.
bool get_newer(std::istream& in, int format, Inheritance& to) {
  if (format == kWithoutDescriptors) return true;
  if (!get_text(in, to.formats)) return false;
  in >> to.descriptors_in >> to.descriptors_out;
  if (format != kWithoutKept) in >> to.kept;
  return static_cast<bool>(in);
}

}  // namespace

std::string to_text(const Inheritance& inheritance) {
  const FeedSocket::Transferred& socket = inheritance.socket;
  const auto file = socket.bound.value_or(std::pair<dev_t, ino_t>());
  std::ostringstream out;
  out << kFormat << ' ' << (inheritance.purpose == Inheritance::Purpose::kCheck) << ' '
      << inheritance.handover << ' ' << inheritance.handed_state << ' ' << inheritance.mount << ' '
      << inheritance.sock_diag << ' ' << inheritance.feeder << ' ' << inheritance.state << ' '
      << inheritance.owner.uid << ' ' << inheritance.owner.gid << ' ' << inheritance.has_terminal;
  put_text(out, inheritance.mount_point);
  put_text(out, inheritance.rules_file);
  out << ' ' << socket.fd << ' ' << socket.lock << ' ' << socket.bound.has_value() << ' '
      << file.first << ' ' << file.second << ' ' << socket.made_directory << ' '
      << (socket.queue_length ? static_cast<long long>(*socket.queue_length) : -1);
  put_text(out, socket.path);
  out << ' ' << inheritance.watchdog.size();
  for (const Watchdog::Transferred& each : inheritance.watchdog) {
    out << ' ' << each.pipe << ' ' << each.id;
  }
  put_text(out, inheritance.formats);
  out << ' ' << inheritance.descriptors_in << ' ' << inheritance.descriptors_out << ' '
      << inheritance.kept;
  return out.str();
}

Result<Inheritance> parse_inheritance(const std::string& text) {
  Inheritance made;
  std::istringstream in(text);
  int format = 0;
  bool is_check = false;
  in >> format >> is_check >> made.handover >> made.handed_state >> made.mount >> made.sock_diag >>
      made.feeder >> made.state >> made.owner.uid >> made.owner.gid >> made.has_terminal;
  const bool is_known = format >= kWithoutDescriptors && format <= kFormat;
  const bool is_whole = in && is_known && get_text(in, made.mount_point) &&
                        get_text(in, made.rules_file) && get_socket(in, made.socket) &&
                        get_watchdogs(in, made.watchdog) && get_newer(in, format, made);
  if (!is_whole) {
    return Error{ErrorCode::kInvalid, "the daemon that runs is too old or too new to be replaced"};
  }
  if (is_check) made.purpose = Inheritance::Purpose::kCheck;
  return made;
}

std::optional<Result<Inheritance>> take_inheritance() {
  const char* const text = std::getenv(Inheritance::kVariable);
  if (!text) return std::nullopt;
  auto parsed = parse_inheritance(text);
  ::unsetenv(Inheritance::kVariable);
  return parsed;
}

std::vector<int> descriptors_of(const Inheritance& inheritance) {
  std::vector<int> all;
  for (const int fd :
       {inheritance.handover, inheritance.handed_state, inheritance.descriptors_in,
        inheritance.descriptors_out, inheritance.kept, inheritance.mount, inheritance.sock_diag,
        inheritance.feeder, inheritance.state, inheritance.socket.fd, inheritance.socket.lock}) {
    if (fd >= 0) all.push_back(fd);
  }
  for (const Watchdog::Transferred& each : inheritance.watchdog) all.push_back(each.pipe);
  return all;
}

}  // namespace tallyfs
