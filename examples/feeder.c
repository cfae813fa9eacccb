/* Feeds the interface `example` with what it costs to look up one's own name.
 *   cc feeder.c -o feeder $(pkg-config --cflags --libs tally) && ./feeder
 *   cat MOUNTPOINT/statistics/example/data */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <tally/statistic.h>
#include <time.h>

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(void) {
  struct statistic_interface *interface;
  struct statistic *latency, *length;
  if (statistic_create_interface(&interface, "example", 0) < 0 ||
      statistic_create(&latency, interface, "latency_ns", "nanoseconds/calls") < 0 ||
      statistic_create(&length, interface, "length", "bytes/calls") < 0) return 1;
  statistic_define_array(latency, 0, 1 << 20, 64, STATISTIC_SCALE_LOG2);
  statistic_define_list(length, 0, STATISTIC_RANGE_MAX, 16);
  statistic_start(latency); /* until a user writes on=0 into the definition */
  statistic_start(length);

  for (int i = 0; i < 1000; ++i) {
    struct utsname name;
    const int64_t begun = now_ns();
    uname(&name);
    statistic_inc(latency, now_ns() - begun);
    statistic_inc(length, (int64_t)strlen(name.nodename));
  }
  const int error = statistic_sync(10000); /* only because we want to say how it went */
  printf("%s\n", error ? strerror(-error) : "1000 samples each are in statistics/example/data");
  return error ? 1 : 0;
}
