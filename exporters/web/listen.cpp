#include "exporters/web/listen.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/base/text.h"

namespace tallyfs::web {
namespace {

constexpr int kBacklog = 128;
constexpr std::string_view kUnix = "unix:";

Error failed(const std::string& text) { return invalid(text + ": " + std::strerror(errno)); }

// An address of the system, of any family.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

// "[::1]" or "127.0.0.1", and a port.
std::optional<Address> to_address(std::string_view host, std::uint16_t port) {
  Address made;
  if (host.starts_with('[') && host.ends_with(']')) {
    auto* const six = reinterpret_cast<sockaddr_in6*>(&made.storage);
    const std::string inner(host.substr(1, host.size() - 2));
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    made.size = sizeof *six;
    if (::inet_pton(AF_INET6, inner.c_str(), &six->sin6_addr) != 1) return std::nullopt;
    return made;
  }
  auto* const four = reinterpret_cast<sockaddr_in*>(&made.storage);
  four->sin_family = AF_INET;
  four->sin_port = htons(port);
  made.size = sizeof *four;
  if (::inet_pton(AF_INET, std::string(host).c_str(), &four->sin_addr) != 1) return std::nullopt;
  return made;
}

bool is_loopback(const Address& address) {
  if (address.storage.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address.storage);
    return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
  }
  const auto& four = reinterpret_cast<const sockaddr_in&>(address.storage);
  return ntohl(four.sin_addr.s_addr) >> 24 == 127;
}

std::uint16_t port_of(const Address& address) {
  if (address.storage.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address.storage).sin_port);
}

// ADDRESS:PORT or [ADDRESS]:PORT.
std::optional<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  constexpr std::uint64_t kNone = 65536;
  const std::uint64_t port =
      colon == text.npos ? kNone
                         : parse_unsigned(std::string_view(text).substr(colon + 1)).value_or(kNone);
  if (port >= kNone) return std::nullopt;
  const std::string host = text.substr(0, colon);
  return to_address(host == "localhost" ? "127.0.0.1" : host, static_cast<std::uint16_t>(port));
}

Result<Listening> listen_tcp(const std::string& text) {
  auto address = parse_address(text);
  if (!address) return invalid(fault_of_address(text));
  const std::string host = text.substr(0, text.rfind(':'));
  Listening made{.fd = Fd(::socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)),
                 .host = host,
                 .url = {},
                 .unix_path = {},
                 .is_loopback = is_loopback(*address)};
  if (!made.fd.valid()) return failed(text);
  constexpr int kOn = 1;
  ::setsockopt(made.fd.get(), SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof kOn);
  if (::bind(made.fd.get(), address->get(), address->size) != 0) {
    Error error = failed(text);
    if (errno == EADDRINUSE) error.reason.append("; --listen 127.0.0.1:0 takes a free port");
    return error;
  }
  if (::listen(made.fd.get(), kBacklog) != 0) return failed(text);
  ::getsockname(made.fd.get(), address->get(), &address->size);
  made.url.append("http://").append(host).append(":");
  made.url.append(std::to_string(port_of(*address))).append("/");
  return made;
}

// Whether a process listens there.
bool is_held(sockaddr_un& address) {
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ||
         errno != ECONNREFUSED;
}

Result<Listening> listen_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (auto fault = fault_of_address("unix:" + path); !fault.empty()) return invalid(fault);
  std::memcpy(address.sun_path, path.data(), path.size());
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode) && !is_held(address)) {
    ::unlink(path.c_str());
  }
  Listening made{.fd = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
                 .host = {},
                 .url = "unix:" + path,
                 .unix_path = path,
                 .is_loopback = true};
  const mode_t mask = ::umask(0117);
  const int bound = ::bind(made.fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  ::umask(mask);
  if (bound != 0 || ::listen(made.fd.get(), kBacklog) != 0) return failed("unix:" + path);
  return made;
}

}  // namespace

std::string fault_of_address(const std::string& text) {
  if (!text.starts_with(kUnix)) {
    return parse_address(text) ? ""
                               : text + " is no address with a port, as 127.0.0.1:8255, " +
                                     "[::1]:8255 or localhost:8255, nor unix:PATH";
  }
  const std::size_t size = text.size() - kUnix.size();
  const bool fits = size > 0 && size < sizeof sockaddr_un::sun_path;
  return fits ? "" : text + ": the path must have 1 to 107 bytes";
}

Result<Listening> listen_on(const std::string& text) {
  if (text.starts_with(kUnix)) return listen_unix(text.substr(kUnix.size()));
  return listen_tcp(text);
}

}  // namespace tallyfs::web
