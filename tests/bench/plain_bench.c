/* What a call costs a program in C, compiled by -O2 and linked as pkg-config says: samples of types
 * value, range and array in cells, beside a bare loop over the same random X and a bare
 * clock_gettime() of the same run. plain_bench has libtally.so, plain_bench_static the archive.
 * Each figure is the best of kRounds, in CPU time, the bare loop taken off. */
#define _XOPEN_SOURCE 700
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tally/statistic.h"
#include "tests/bench/figures.h"

enum { kValues = 4096, kRounds = 9, kTriesMax = 1000 };
static const long kCalls = 4000000;
static int64_t g_values[kValues];

static double cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void keep(int64_t value) { __asm__ volatile("" : : "r"(value) : "memory"); }

static void loop(struct statistic* of) {
  (void)of;
  for (long i = 0; i < kCalls; ++i) keep(g_values[i % kValues]);
}

static void read_clock(struct statistic* of) {
  (void)of;
  for (long i = 0; i < kCalls; ++i) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    keep(now.tv_nsec);
  }
}

static void add(struct statistic* of) {
  for (long i = 0; i < kCalls; ++i) statistic_inc(of, g_values[i % kValues]);
}

static double cost(void (*of_calls)(struct statistic*), struct statistic* of) {
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const double begun = cpu_ns();
    of_calls(of);
    const double ns = (cpu_ns() - begun) / (double)kCalls;
    if (ns < best) best = ns;
  }
  return best;
}

static void fail(void) {
  fprintf(stderr, "plain_bench: %s\n", statistic_last_error());
  exit(1);
}

/* Waits until the daemon has given the process its cells. */
static void wait_for_cell(struct statistic* of) {
  for (int i = 0; i < kTriesMax; ++i) {
    struct statistic_counts counts;
    if (statistic_sync(10000) != 0) fail();
    statistic_inc(of, 1);
    statistic_count(&counts, sizeof counts);
    if (counts.added == counts.sent) return;
  }
  fputs("plain_bench: the daemon gives no lane\n", stderr);
  exit(1);
}

static struct statistic* make(struct statistic_interface* interface, const char* name) {
  struct statistic* made;
  if (statistic_create(&made, interface, name, NULL) != 0) fail();
  return made;
}

int main(void) {
  struct statistic_interface* interface;
  struct statistic* made[4];
  static const char* const names[] = {"value", "range", "log2", "lin"};
  srandom((unsigned)time(NULL) ^ (unsigned)getpid());
  for (int i = 0; i < kValues; ++i) g_values[i] = random() >> (11 + random() % 20);
  if (statistic_create_interface(&interface, "plain", STATISTIC_LIFETIME_FEEDER) != 0) fail();
  for (int i = 0; i < 4; ++i) made[i] = make(interface, names[i]);
  statistic_define_range(made[1], STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX);
  statistic_define_array(made[2], 0, 1000000, 1, STATISTIC_SCALE_LOG2);
  statistic_define_array(made[3], 0, 1000000, 1024, STATISTIC_SCALE_LIN);
  const double bare = cost(loop, NULL);
  const double clock_read = cost(read_clock, NULL) - bare;
  printf("bare loop %.2f ns, clock read %.1f ns beyond it\n", bare, clock_read);
  for (int i = 0; i < 4; ++i) {
    statistic_start(made[i]);
    wait_for_cell(made[i]);
    const double ns = cost(add, made[i]) - bare;
    printf("%-52s %7.2f ns  %6.3f of a clock read  %s\n", names[i], ns, ns / clock_read,
           i == 0 ? "(wanted: at most 0.14)" : "(wanted: at most 0.30)");
    note_figure(TABLE, names[i], "CPU ns", ns);
    note_figure(TABLE, names[i], "of a clock read", ns / clock_read);
  }
  return 0;
}
