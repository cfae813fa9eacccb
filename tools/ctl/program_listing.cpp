// list_of(): the file is opened in a process that gives up all rights before it reads, and has
// limits. It writes its list as lines: `debug BUILD_ID NAME` if another file might have more, then
// `l GO THROWS SYMBOLS`, `m PLACES NAME\tARGUMENTS` and `f OFFSET COST INDIRECT SYMBOL\tDEMANGLED`,
// or `e REASON`.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/base/fd.h"
#include "core/base/text.h"
#include "program/untrusted/program_file.h"
#include "program/untrusted/renounced_rights.h"
#include "tools/ctl/probed_program.h"

namespace tallyfs {
namespace {

using tracing::ProgramList;

constexpr RenouncedBounds kBounds{.memory_bytes = std::size_t{1} << 30,
                                  .cpu_time = std::chrono::seconds(10)};
constexpr std::size_t kTextBytesMax = std::size_t{512} << 20;
// It may hang where the file is. A busy machine takes some times the CPU's.
constexpr std::chrono::seconds kListingMax{60};
constexpr std::size_t kNameBytesMax = 2'000;

// Names with control characters, which no compiler makes, would be lines of their own here, and
// orders to a terminal later.
bool is_line(std::string_view name) {
  return std::ranges::none_of(name, [](char each) {
    const auto byte = static_cast<unsigned char>(each);
    return byte < 0x20 || byte == 0x7f;
  });
}

std::string text_of(const ProgramList& list) {
  std::string text = "l ";
  for (const bool each : {list.is_go, list.may_throw, list.has_symbols}) text += each ? "1 " : "0 ";
  text += "\n";
  for (const auto& each : list.markers) {
    if (!is_line(each.name) || !is_line(each.arguments)) continue;
    text.append("m ").append(std::to_string(each.places)).append(" ");
    text.append(each.name).append("\t").append(each.arguments).append("\n");
  }
  for (const auto& each : list.functions) {
    if (!is_line(each.symbol) || !is_line(each.demangled)) continue;
    text.append("f ").append(std::to_string(each.offset)).append(" ");
    text.push_back(static_cast<char>(each.cost));
    text.append(each.is_indirect ? " 1 " : " 0 ");
    text.append(each.symbol).append("\t");
    if (each.demangled.size() <= kNameBytesMax) text.append(each.demangled);
    text.append("\n");
  }
  return text;
}

std::string refusal(const std::string& reason) { return "e " + reason + "\n"; }

std::string listing(const ProgramFiles& files, const std::string& path) {
  const auto read = read_program(files);
  if (!read) return refusal(path + ": " + read.error().reason);
  const auto list = tracing::list_program(read.value().program, read.value().more());
  if (!list) return refusal(path + ": " + list.error().reason);
  return debug_hint(read.value()) + text_of(list.value());
}

[[noreturn]] void list_and_end(const std::string& path, const std::vector<std::string>& debug_files,
                               int out) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || !close_other_files({out})) ::_exit(1);
  const auto files = open_program(path, debug_files);
  if (!files) write_and_end(refusal(files.error().reason), out);
  std::vector<int> kept = files.value().descriptors();
  kept.push_back(out);
  if (const auto done = renounce_rights(std::move(kept), kBounds); !done) {
    write_and_end(refusal(done.error().reason), out);
  }
  try {
    write_and_end(listing(files.value(), path), out);
  } catch (const std::bad_alloc&) {
  }
  ::_exit(1);
}

// All that the process writes. Nothing: it is too much, or takes too long.
std::optional<std::string> read_all(const Fd& in) {
  using std::chrono::steady_clock;
  const auto until = steady_clock::now() + kListingMax;
  std::string text;
  std::array<char, 65536> bytes;
  while (text.size() < kTextBytesMax) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
    pollfd ready{.fd = in.get(), .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0) break;
    const ssize_t size = ::read(in.get(), bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(size));
  }
  return std::nullopt;
}

// The two that the tab divides.
std::pair<std::string, std::string> halves(std::string_view text) {
  const std::size_t at = text.find('\t');
  if (at == text.npos) return {std::string(text), {}};
  return {std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

// Whether it is a line of a list.
bool add_line(ProgramList& list, std::string_view line) {
  Tokens words(line);
  const auto kind = words.next();
  const auto first = words.next();
  if (!kind || !first) return false;
  if (kind->text == "l") {
    const auto throws = words.next(), symbols = words.next();
    list.is_go = first->text == "1";
    list.may_throw = throws && throws->text == "1";
    list.has_symbols = symbols && symbols->text == "1";
    return true;
  }
  const std::uint64_t number = parse_unsigned(first->text).value_or(0);
  if (kind->text == "m") {
    auto [name, arguments] = halves(trimmed(words.rest().text));
    list.markers.push_back({std::move(name), number, std::move(arguments)});
    return true;
  }
  const auto cost = words.next(), indirect = words.next();
  if (kind->text != "f" || !cost || !indirect) return false;
  const std::string_view names = words.rest().text;
  auto [symbol, demangled] = halves(names.substr(std::min<std::size_t>(1, names.size())));
  list.functions.push_back({.offset = number,
                            .cost = tracing::HitCost{cost->text.front()},
                            .is_indirect = indirect->text == "1",
                            .symbol = std::move(symbol),
                            .demangled = std::move(demangled)});
  return true;
}

// Its text. kInvalid: the reason.
Result<std::string> run_listing(const std::string& path,
                                const std::vector<std::string>& debug_files) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return invalid(std::strerror(errno));
  const Fd in(ends[0]);
  Fd out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return invalid(std::strerror(errno));
  if (child == 0) list_and_end(path, debug_files, out.get());
  out.reset();
  auto text = read_all(in);
  if (!text) (void)::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  const bool is_done = text && !text->empty() && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!is_done) {
    return invalid(path + ": its list takes more than 1 GiB or 10 s of CPU, or was killed");
  }
  if (text->starts_with("e ")) return invalid(std::string(trimmed(text->substr(2))));
  return std::move(*text);
}

}  // namespace

Result<ProgramList> list_of(const std::string& path) {
  auto text = run_listing(path, {});
  if (!text) return text.error();
  std::string_view rest = text.value();
  if (const auto debug_files = take_debug_hint(rest, path); !debug_files.empty()) {
    text = run_listing(path, debug_files);
    if (!text) return text.error();
    rest = text.value();
    (void)take_debug_hint(rest, path);
  }
  ProgramList list;
  std::istringstream lines{std::string(rest)};
  for (std::string line; std::getline(lines, line);) {
    if (!add_line(list, line)) return invalid(path + ": the list of its functions is broken");
  }
  return list;
}

}  // namespace tallyfs
