// A program that has taken many thread-specific keys before it loads libtally, as an interpreter
// loads a module, and whose threads add their first sample in a signal handler that interrupts
// malloc(). Nothing there may allocate: it would wait for ever for the lock that its thread holds.
//   tally-late-probe THREADS [LIBRARY]
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "tally/statistic.h"

namespace {

statistic* hits = nullptr;
decltype(&statistic_on_add) on_add = nullptr;
std::atomic<bool> taken{false};

void on_signal(int) {
  if (statistic_is_on(hits)) on_add(hits, 1, 1);
  taken = true;
}

template <typename Function>
void load(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function) return;
  std::cout << "no " << name << std::endl;
  exit(1);
}

void add_in_handler() {
  std::atomic<bool> runs{false};
  taken = false;
  std::thread thread([&] {
    runs = true;
    while (!taken) {
      void* volatile some = malloc(3000);
      free(some);
    }
  });
  while (!runs) std::this_thread::yield();
  pthread_kill(thread.native_handle(), SIGUSR1);
  thread.join();
}

}  // namespace

int main(int, char** words) {
#ifdef __SANITIZE_THREAD__
  // It has a malloc() and signal handlers of its own, and takes the page of switches for unordered.
  std::cout << "not under ThreadSanitizer" << std::endl;
  return 0;
#endif
  alarm(100);
  for (int i = 0; i < 40; ++i) {
    pthread_key_t key;
    pthread_key_create(&key, nullptr);
  }
  void* const library = dlopen(words[2] ? words[2] : TALLY_LIBRARY, RTLD_NOW);
  if (!library) {
    std::cout << dlerror() << std::endl;
    return 1;
  }
  decltype(statistic_create_interface)* create_interface = nullptr;
  decltype(statistic_create)* create = nullptr;
  decltype(statistic_start)* start = nullptr;
  decltype(statistic_sync)* sync = nullptr;
  load(library, "statistic_create_interface", create_interface);
  load(library, "statistic_create", create);
  load(library, "statistic_start", start);
  load(library, "statistic_sync", sync);
  load(library, "statistic_on_add", on_add);
  statistic_interface* web = nullptr;
  create_interface(&web, "web", 0);
  create(&hits, web, "hits", nullptr);
  start(hits);
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGUSR1, &action, nullptr);
  const int threads = atoi(words[1]);
  for (int i = 0; i < threads; ++i) add_in_handler();
  std::cout << "sync " << sync(30'000) << std::endl;
}
