/* What the tests of event.h against a real daemon are written with: commands on stdin, one a line.
 * Uses the public C functions only, linked to libtally.so.
 *   again        says `again ERROR` of registering the same event once more, and whether the handle is what it was
 *   none         says what event_enabled() and event_write() say of NULL
 *   sync         says `synced ERROR` when the daemon has taken in what was said before
 *   write N      N records, with lat 0 to N-1, each as long as the event is wanted; says how many were
 *   time         ns of an event_enabled() that says no, and of an event_write() if one is wanted
 */
#include <stdio.h>
#include <string.h>
#include <tally/event.h>
#include <time.h>
#include <unistd.h>

struct done {
  uint64_t lat;
  pid_t pid;
  char comm[16];
  const char *path;
};

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int write_some(struct user_event *event, uint64_t count) {
  int written = 0;
  uint64_t i;
  for (i = 0; i < count; ++i) {
    struct done fields = {0};
    if (!event_enabled(event)) continue;
    fields.lat = i;
    fields.pid = getpid();
    fields.path = i % 2 ? "/odd" : "/even";
    strcpy(fields.comm, "probe");
    written += event_write(event, &fields, sizeof fields) == 0;
  }
  return written;
}

static const char kFields[] = "u64 lat; pid_t pid; char comm[16]; char[] path";

int main(void) {
  struct user_event *event = NULL;
  char line[64];
  int error = event_register(&event, "web", "done", kFields);
  printf("registered %d\n", error);
  fflush(stdout);
  while (error == 0 && fgets(line, sizeof line, stdin)) {
    unsigned long count = 0;
    if (strcmp(line, "again\n") == 0) {
      struct user_event *const before = event;
      const int refused = event_register(&event, "web", "done", kFields);
      printf("again %d %s\n", refused, event == before ? "kept" : "lost");
    }
    if (strcmp(line, "none\n") == 0)
      printf("none %d %d\n", event_enabled(NULL), event_write(NULL, line, 1));
    if (strcmp(line, "sync\n") == 0) printf("synced %d\n", statistic_sync(10000));
    if (sscanf(line, "write %lu", &count) == 1) printf("written %d\n", write_some(event, count));
    if (strcmp(line, "time\n") == 0) {
      const double begin = now_ns();
      const int wanted = event_enabled(event);
      write_some(event, 1000000);
      printf("%s %.1f ns\n", wanted ? "written in" : "asked in", (now_ns() - begin) / 1e6);
    }
    fflush(stdout);
  }
  event_unregister(&event);
  return error != 0;
}
