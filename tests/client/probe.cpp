// A feeder that does as it is told on stdin, one command a line, and answers each with a line: what
// the tests of libtally against a real daemon are written with. Uses the public C functions only,
// linked to libtally.so. Longer than most: a command each.
//   interface NAME [feeder]      statistic INTERFACE NAME [UNITS]      view SOURCE NAME
//   define NAME value|products|range|array|list|raw|history|last|inverted|huge
//   start|stop|reset|remove|release NAME     remove-interface|release-interface NAME
//   add NAME X Y TIMES           inc NAME TIMES (X counts up from 0)         at NAME X TIME_NS
//   batch NAME X Y TIMES         the same as add, in one call
//   help NAME TEXT               statistic_define_help(), of a text that may be empty
//   decimals NAME PLACES         decimal NAME NUMBER Y: statistic_add_decimal()
//   threads N NAME TIMES         N threads that inc and end
//   signals NAME TIMES           inc, and adds in a signal handler meanwhile; how many in all
//   may-fork                     yes; no: ThreadSanitizer takes a child's thread for its parent's
//   fork NAME PARENT CHILD       both add; the child ends by exit()
//   become-child                 from now on it is a child that does as it is told
//   cancel NAME                  threads that add are cancelled
//   errno NAME                   how often a call changed errno
//   reason                       statistic_last_error()
//   slowest NAME TIMES           inc; the longest call in microseconds
//   on NAME   dropped NAME   counts   fds   flush   finish   sync MS
//   settings DELAY_US WAIT_MS HELD_MAX [NO_LANE]
//   latency TYPE CPU NS PID PRIO COMM        section TYPE MS: latency_record(), latency_end()
//   close-fds                    closes all descriptors and opens a file under their numbers
//   end (exit)   leave (_exit)
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tally/latency.h"
#include "tally/statistic.h"

namespace {

#ifdef __SANITIZE_THREAD__
constexpr bool kMayFork = false;
#else
constexpr bool kMayFork = true;
#endif

std::map<std::string, statistic_interface*> interfaces;
std::map<std::string, statistic*> statistics;
statistic* of_signals = nullptr;
volatile sig_atomic_t signals_taken = 0;
volatile sig_atomic_t signals_of_call = 0;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::string result(int error) { return error == 0 ? "ok" : strerrorname_np(-error); }

void inc(statistic* of, long times) {
  for (long i = 0; i < times; ++i) statistic_inc(of, i);
}

std::string latency(std::istream& in) {
  std::string type, comm;
  unsigned cpu = 0;
  std::int64_t ns = 0;
  pid_t pid = 0;
  int priority = 0;
  in >> type >> cpu >> ns >> pid >> priority >> comm;
  return result(latency_record(type.c_str(), cpu, ns, pid, priority, comm.c_str()));
}

std::string section(std::istream& in) {
  std::string type;
  int ms = 0;
  in >> type >> ms;
  const latency_mark mark = latency_begin();
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  return result(latency_end(type.c_str(), mark));
}

int define(statistic* of, const std::string& type) {
  constexpr auto kMin = STATISTIC_RANGE_MIN;
  constexpr auto kMax = STATISTIC_RANGE_MAX;
  if (type == "value") return statistic_define_value(of, kMin, kMax, STATISTIC_MODE_INCREMENTS);
  if (type == "products") return statistic_define_value(of, kMin, kMax, STATISTIC_MODE_PRODUCTS);
  if (type == "range") return statistic_define_range(of, kMin, kMax);
  if (type == "array") return statistic_define_array(of, 0, 1000, 10, STATISTIC_SCALE_LOG2);
  if (type == "inverted") return statistic_define_range(of, kMax, kMin);
  if (type == "list") return statistic_define_list(of, kMin, kMax, 100);
  if (type == "huge") return statistic_define_raw(of, kMin, kMax, 1'000'000);
  if (type == "raw") return statistic_define_raw(of, kMin, kMax, 1000);
  if (type == "last") return statistic_define_last(of, kMin, kMax);
  if (type == "history") {
    return statistic_define_history(of, kMin, kMax, 10, 1000, STATISTIC_MODE_RANGE);
  }
  return -EINVAL;
}

// The library holds 64 samples of handlers until the call that they interrupt goes on, and drops
// more. Where handlers are slower than the timer, as beside a sanitizer, that call does not go on.
void on_signal(int) {
  if (signals_of_call == 32) return;
  signals_of_call = signals_of_call + 1;
  statistic_inc(of_signals, 1);
  signals_taken = signals_taken + 1;
}

// The thread adds all the while, so that handlers interrupt it in the library.
std::string with_signals(statistic* of, long times) {
  of_signals = of;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &often, nullptr);
  for (long i = 0; i < times; ++i) {
    signals_of_call = 0;
    statistic_inc(of, i);
  }
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  return std::to_string(times + signals_taken);
}

std::string with_fork(statistic* of, long parents, long childs) {
  inc(of, parents);
  const pid_t child = fork();
  if (child == 0) {
    inc(of, childs);
    exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return std::to_string(status);
}

// The parent ends as its child does.
std::string become_child() {
  const pid_t child = fork();
  if (child == 0) return "ok";
  int status = 0;
  waitpid(child, &status, 0);
  exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

std::string counts() {
  statistic_counts c{};
  statistic_count(&c, sizeof c);
  std::ostringstream out;
  out << "added=" << c.added << " held=" << c.held << " sent=" << c.sent
      << " confirmed=" << c.confirmed << " lost=" << c.lost << " dropped=" << c.dropped;
  return out.str();
}

// In microseconds; with the calls spread over the time, so that the daemon's state may change.
std::string slowest(statistic* of, long times) {
  std::int64_t worst = 0;
  for (long i = 0; i < times; ++i) {
    const std::int64_t begun = now_ns();
    statistic_inc(of, i);
    worst = std::max(worst, now_ns() - begun);
  }
  return std::to_string(worst / 1000);
}

std::string descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::to_string(std::distance(begin(all), end(all)) - 1);
}

// As daemons do; and then what they open next takes the numbers.
std::string close_descriptors() {
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  // The library may connect again meanwhile, and then has some of the numbers.
  int last = 0;
  while (last >= 0 && last < 19) last = open("victim", O_RDWR | O_CREAT, 0600);
  return last < 0 ? "no file" : "ok";
}

// Threads that add all the time and are cancelled wherever they are.
std::string cancel(statistic* of) {
  for (int round = 0; round < 200; ++round) {
    std::thread thread([of] {
      for (;;) {
        inc(of, 1000);
        pthread_testcancel();
      }
    });
    usleep(static_cast<useconds_t>(round * 10));
    pthread_cancel(thread.native_handle());
    thread.join();
  }
  return "ok";
}

// How often a call changed errno.
std::string errnos(statistic* of) {
  long changed = 0;
  for (long i = 0; i < 100'000; ++i) {
    errno = 4711;
    statistic_inc(of, 1);
    changed += errno != 4711;
  }
  errno = 4711;
  statistic_flush();
  statistic_sync(1000);
  changed += errno != 4711;
  return std::to_string(changed);
}

std::string settings(std::istream& in) {
  statistic_settings settings = STATISTIC_SETTINGS_DEFAULT;
  in >> settings.delay_us >> settings.wait_ms >> settings.held_max;
  if (int no_lane = 0; in >> no_lane) settings.no_lane = no_lane != 0;
  return result(statistic_configure(&settings));
}

std::string word(std::istream& in) {
  std::string read;
  in >> read;
  return read;
}

long number(std::istream& in) {
  long read = 0;
  in >> read;
  return read;
}

// The statistic that the next word names.
statistic*& the(std::istream& in) { return statistics[word(in)]; }

std::string make_interface(std::istream& in) {
  const std::string name = word(in), asked = word(in);
  statistic_interface* made = nullptr;
  unsigned flags = 0;
  if (asked == "feeder") flags = STATISTIC_LIFETIME_FEEDER;
  if (asked == "owner") flags = STATISTIC_FEED_OWNER;
  const int error = statistic_create_interface(&made, name.c_str(), flags);
  if (error == 0) interfaces[name] = made;
  return result(error);
}

std::string make_statistic(std::istream& in) {
  const std::string interface = word(in), name = word(in), units = word(in);
  statistic* made = nullptr;
  const int error = statistic_create(&made, interfaces[interface], name.c_str(),
                                     units.empty() ? nullptr : units.c_str());
  if (error == 0) {
    statistics[name] = made;
  } else {
    statistic_inc(made, 1);  // a statistic that could not be made can be fed all the same
    statistic_release(&made);
  }
  return result(error);
}

std::string make_view(std::istream& in) {
  statistic* const source = the(in);
  const std::string name = word(in);
  statistic* made = nullptr;
  const int error = statistic_create_view(&made, source, name.c_str());
  if (error == 0) {
    statistics[name] = made;
  } else {
    statistic_inc(made, 1);
    statistic_release(&made);
  }
  return result(error);
}

std::string add(std::istream& in) {
  statistic* const of = the(in);
  std::int64_t x = 0;
  std::uint64_t y = 0;
  in >> x >> y;
  const long times = number(in);
  for (long i = 0; i < times; ++i) statistic_add(of, x, y);
  return "ok";
}

std::string batch(std::istream& in) {
  statistic* const of = the(in);
  std::int64_t x = 0;
  std::uint64_t y = 0;
  in >> x >> y;
  const std::vector<statistic_sample> samples(static_cast<std::size_t>(number(in)), {x, y, 0});
  statistic_add_batch(of, samples.data(), samples.size());
  return "ok";
}

std::string add_at(std::istream& in) {
  statistic* const of = the(in);
  std::int64_t x = 0, time = 0;
  in >> x >> time;
  return statistic_add_at(of, x, 1, time), "ok";
}

// So many rounds of one sample for each statistic, in one call.
std::string add_each(std::istream& in) {
  const long rounds = number(in);
  std::vector<statistic_entry> entries;
  for (long i = 0; i < rounds; ++i) {
    for (const auto& [name, of] : statistics) entries.push_back({of, 7, 1, 0});
  }
  statistic_add_each(entries.data(), entries.size());
  return "ok";
}

std::string in_threads(std::istream& in) {
  const long count = number(in);
  statistic* const of = the(in);
  const long times = number(in);
  std::vector<std::thread> threads;
  for (long i = 0; i < count; ++i) threads.emplace_back(inc, of, times);
  for (std::thread& thread : threads) thread.join();
  return "ok";
}

std::string define_decimals(std::istream& in) {
  statistic* const of = the(in);
  return result(statistic_define_decimals(of, static_cast<unsigned>(number(in))));
}

std::string define_help(std::istream& in) {
  statistic* const of = the(in);
  std::string text;
  std::getline(in >> std::ws, text);
  return result(statistic_define_help(of, text.c_str()));
}

// NUMBER may be nan, which a stream does not read.
std::string add_decimal(std::istream& in) {
  statistic* const of = the(in);
  const double decimal = std::stod(word(in));
  return result(statistic_add_decimal(of, decimal, static_cast<std::uint64_t>(number(in))));
}

using Obey = std::string (*)(std::istream&);

// Words of a line are read in their order: each read is a statement of its own.
const std::map<std::string, Obey> kVerbs = {
    {"interface", make_interface},
    {"statistic", make_statistic},
    {"view", make_view},
    {"define",
     [](std::istream& in) {
       statistic* const of = the(in);
       return result(define(of, word(in)));
     }},
    {"start", [](std::istream& in) { return result(statistic_start(the(in))); }},
    {"stop", [](std::istream& in) { return result(statistic_stop(the(in))); }},
    {"reset", [](std::istream& in) { return result(statistic_reset(the(in))); }},
    {"remove", [](std::istream& in) { return statistic_remove(&the(in)), std::string("ok"); }},
    {"release", [](std::istream& in) { return statistic_release(&the(in)), std::string("ok"); }},
    {"remove-interface",
     [](std::istream& in) {
       return statistic_interface_remove(&interfaces[word(in)]), std::string("ok");
     }},
    {"release-interface",
     [](std::istream& in) {
       return statistic_interface_release(&interfaces[word(in)]), std::string("ok");
     }},
    {"add", add},
    {"batch", batch},
    {"each", add_each},
    {"at", add_at},
    {"decimals", define_decimals},
    {"help", define_help},
    {"decimal", add_decimal},
    {"inc",
     [](std::istream& in) {
       statistic* const of = the(in);
       return inc(of, number(in)), std::string("ok");
     }},
    {"threads", in_threads},
    {"signals",
     [](std::istream& in) {
       statistic* const of = the(in);
       return with_signals(of, number(in));
     }},
    {"may-fork", [](std::istream&) { return std::string(kMayFork ? "yes" : "no"); }},
    {"fork",
     [](std::istream& in) {
       statistic* const of = the(in);
       const long parents = number(in);
       return with_fork(of, parents, number(in));
     }},
    {"become-child", [](std::istream&) { return become_child(); }},
    {"latency", [](std::istream& in) { return latency(in); }},
    {"section", [](std::istream& in) { return section(in); }},
    {"slowest",
     [](std::istream& in) {
       statistic* const of = the(in);
       return slowest(of, number(in));
     }},
    {"cancel", [](std::istream& in) { return cancel(the(in)); }},
    {"reason", [](std::istream&) { return std::string(statistic_last_error()); }},
    {"errno", [](std::istream& in) { return errnos(the(in)); }},
    {"on", [](std::istream& in) { return std::to_string(statistic_is_on(the(in))); }},
    {"flush", [](std::istream&) { return result(statistic_flush()); }},
    {"finish",
     [](std::istream&) {
       statistic_finish();
       return result(0);
     }},
    {"sync",
     [](std::istream& in) { return result(statistic_sync(static_cast<unsigned>(number(in)))); }},
    {"counts", [](std::istream&) { return counts(); }},
    {"dropped", [](std::istream& in) { return std::to_string(statistic_dropped(the(in))); }},
    {"fds", [](std::istream&) { return descriptors(); }},
    {"close-fds", [](std::istream&) { return close_descriptors(); }},
    {"settings", settings},
    {"end", [](std::istream&) -> std::string { exit(0); }},
    {"leave", [](std::istream&) -> std::string { _exit(0); }},
};

std::string obey(const std::string& verb, std::istream& in) {
  const auto found = kVerbs.find(verb);
  return found == kVerbs.end() ? "what?" : found->second(in);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string verb;
    in >> verb;
    std::cout << obey(verb, in) << std::endl;
  }
}
