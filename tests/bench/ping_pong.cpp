// A load of scheduler events: two processes on one CPU that wake each other through pipes, for so
// many seconds. Prints how often the first has woken the second, and was woken.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

void stay_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

[[noreturn]] void echo(int from, int to) {
  char byte = 0;
  while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1) {
  }
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 5;
  stay_on(argc > 2 ? std::atoi(argv[2]) : 0);
  int there[2];
  int back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return 1;
  const pid_t other = fork();
  if (other == 0) {
    close(there[1]);
    close(back[0]);
    echo(there[0], back[1]);
  }
  close(there[0]);
  close(back[1]);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  unsigned long long rounds = 0;
  char byte = 0;
  while (write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1) {
    rounds += 1;
    if (rounds % 256 == 0 && std::chrono::steady_clock::now() >= end) break;
  }
  close(there[1]);
  waitpid(other, nullptr, 0);
  std::printf("%llu\n", rounds);
  return 0;
}
