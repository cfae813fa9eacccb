#include "feeders/kernel/place_finder.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <variant>
#include <vector>

#include "program/untrusted/program_file.h"

namespace tallyfs {
namespace {

// The reply, and the line before it.
constexpr std::size_t kTextBytesMax = wire::kOrderBytesMax + std::size_t{8} * 1024;

// What a search has to say, and no other reply.
bool is_of(const std::optional<wire::Reply>& reply, std::uint64_t number) {
  if (!reply) return false;
  if (const auto* const found = std::get_if<wire::Found>(&*reply)) return found->number == number;
  const auto* const refused = std::get_if<wire::Refused>(&*reply);
  return refused && refused->number == number;
}

std::string path_of(const wire::FindOrder& order) {
  return order.place.substr(0, order.place.find(':'));
}

}  // namespace

PlaceFinder::~PlaceFinder() {
  if (running_) (void)::kill(running_->child, SIGKILL);
}

void PlaceFinder::find(wire::FindOrder order) {
  waiting_.push_back(std::move(order));
  begin_next();
}

void PlaceFinder::begin_next() {
  while (!running_ && !waiting_.empty()) {
    FileSearch search{.order = std::move(waiting_.front())};
    waiting_.pop_front();
    begin(std::move(search), clock_.now().monotonic + kSearchMax);
  }
}

void PlaceFinder::begin(FileSearch search, Time until) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return refuse(search.order, ErrorCode::kNoSpace, "no descriptor is left for the search");
  }
  Fd in(ends[0]);
  Fd out(ends[1]);
  (void)::fcntl(in.get(), F_SETFL, O_NONBLOCK);
  const pid_t child = ::fork();
  if (child == 0) {
    search_(search, std::move(out));
    ::_exit(1);
  }
  if (child < 0) {
    return refuse(search.order, ErrorCode::kNoSpace, "no process can be made for the search");
  }
  running_.emplace(Running{.search = std::move(search),
                           .child = child,
                           .pipe = std::move(in),
                           .until = until,
                           .next_word = clock_.now().monotonic + kWordPeriod,
                           .text = {}});
}

std::optional<std::chrono::milliseconds> PlaceFinder::due() const {
  if (!running_) return ending_.empty() ? std::nullopt : std::optional(kWordPeriod);
  const Time left = std::min(running_->until, running_->next_word) - clock_.now().monotonic;
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(0));
}

bool PlaceFinder::read_pipe() {
  std::array<char, 16'384> piece{};
  for (;;) {
    const auto size = ::read(running_->pipe.get(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno != EAGAIN;
    if (size == 0) return true;
    running_->text.append(piece.data(), static_cast<std::size_t>(size));
    if (running_->text.size() > kTextBytesMax) return true;
  }
}

void PlaceFinder::give_up() {
  (void)::kill(running_->child, SIGKILL);
  ending_.push_back(running_->child);
  running_.reset();
}

void PlaceFinder::reap_others() {
  std::erase_if(ending_, [](pid_t child) { return ::waitpid(child, nullptr, WNOHANG) != 0; });
}

void PlaceFinder::refuse(const wire::FindOrder& order, ErrorCode code, const char* reason) const {
  answer_(wire::Refused{order.number, {.code = code, .reason = reason, .location = "probe"}});
}

void PlaceFinder::step() {
  reap_others();
  if (!running_) return;
  const Time now = clock_.now().monotonic;
  if (read_pipe()) {
    end_search();
  } else if (now >= running_->until) {
    const wire::FindOrder order = running_->search.order;
    give_up();
    refuse(order, ErrorCode::kTimedOut, "the search took longer than 3 s");
  } else if (now >= running_->next_word) {
    answer_(wire::Working{running_->search.order.number});
    running_->next_word = now + kWordPeriod;
  }
  begin_next();
}

// The process has closed the pipe, and ends.
void PlaceFinder::end_search() {
  int status = 0;
  (void)::kill(running_->child, SIGKILL);
  while (::waitpid(running_->child, &status, 0) < 0 && errno == EINTR) {
  }
  Running done = std::move(*running_);
  running_.reset();
  std::string_view text = done.text;
  auto debug_files = take_debug_hint(text, path_of(done.search.order));
  if (!debug_files.empty() && done.search.debug_files.empty()) {
    done.search.debug_files = std::move(debug_files);
    return begin(std::move(done.search), done.until);
  }
  const auto reply = wire::parse_reply(text);
  if (is_of(reply, done.search.order.number)) return answer_(*reply);
  const bool is_late = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
  if (is_late) return refuse(done.search.order, ErrorCode::kTimedOut, "the search took too long");
  refuse(done.search.order, ErrorCode::kInvalid, "the search of the file has failed");
}

}  // namespace tallyfs
