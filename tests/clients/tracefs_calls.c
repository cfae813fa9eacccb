// Calls libtracefs as a program does that traces: the whole way from finding the directory to
// reading back the records. Prints a line for each call, `pass CALL` or `fail CALL`, so that two
// directories can be compared.
//   tracefs_calls NAME
// NAME: of an instance and of events that it makes and removes. Of the top it only reads, but for
// synthetic events, which belong to all instances. Calls for files that the directory does not have
// are left out.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracefs.h>

static struct tracefs_instance* instance;
static struct tep_handle* tep;
static const char* name;

static void report(const char* call, bool passes) {
  if (!passes) fprintf(stderr, "%s: %s\n", call, strerror(errno));
  printf("%s %s\n", passes ? "pass" : "fail", call);
  fflush(stdout);
}
#define PASSES(condition) report(#condition, condition)
#define SUCCEEDS(call) report(#call, (call) == 0)

static bool is_text(char* text) {
  free(text);
  return text != NULL;
}
static bool has_text(char* text, const char* part) {
  const bool has = text && strstr(text, part);
  free(text);
  return has;
}
static bool has_name(char** list, const char* wanted) {
  bool has = false;
  for (char** each = list; each && *each; ++each) has |= strcmp(*each, wanted) == 0;
  tracefs_list_free(list);
  return has;
}
static bool has_file(char* file) {
  const bool has = file && access(file, F_OK) == 0;
  tracefs_put_tracing_file(file);
  return has;
}

static int count_instance(const char* each, void* count) {
  *(int*)count += each != NULL;
  return 0;
}

static void call_the_top(void) {
  const char* mount_point = NULL;
  int instances = 0;
  PASSES(tracefs_tracing_dir() != NULL);
  PASSES(tracefs_tracing_dir_is_mounted(false, &mount_point) >= 0);
  PASSES(has_file(tracefs_get_tracing_file("trace")));
  PASSES(tracefs_file_exists(NULL, "tracing_on"));
  PASSES(!tracefs_file_exists(NULL, "no_such_file"));
  PASSES(tracefs_dir_exists(NULL, "events"));
  PASSES(has_name(tracefs_event_systems(NULL), "sched"));
  PASSES(has_name(tracefs_system_events(NULL, "sched"), "sched_switch"));
  PASSES(!tracefs_tracer_available(NULL, "no_such_tracer"));
  PASSES(is_text(tracefs_get_clock(NULL)));
  PASSES(tracefs_options_get_supported(NULL) != NULL);
  PASSES(tracefs_options_get_enabled(NULL) != NULL);
  PASSES(tracefs_option_is_supported(NULL, TRACEFS_OPTION_OVERWRITE));
  PASSES(tracefs_option_is_enabled(NULL, TRACEFS_OPTION_CONTEXT_INFO));
  PASSES(tracefs_instance_get_buffer_size(NULL, -1) > 0);
  PASSES(is_text(tracefs_instance_get_affinity(NULL)));
  PASSES(is_text(tracefs_instance_get_affinity_raw(NULL)));
  SUCCEEDS(tracefs_instances_walk(count_instance, &instances));
}

static void parse_the_events(void) {
  static const char* const systems[] = {"sched", "ftrace", NULL};
  int failures = 0;
  tep = tracefs_local_events_system(NULL, systems);
  PASSES(tep != NULL);
  tep_free(tep);
  tep = tracefs_local_events(NULL);
  PASSES(tep != NULL);
  if (!tep) exit(1);
  SUCCEEDS(tracefs_fill_local_events(NULL, tep, &failures));
  SUCCEEDS(failures);
  SUCCEEDS(tracefs_load_cmdlines(NULL, tep));
  PASSES(tep_find_event_by_name(tep, "sched", "sched_switch") != NULL);
  PASSES(tep_find_event_by_name(tep, "ftrace", "print") != NULL);
  PASSES(tep_find_event_by_name(tep, "ftrace", "raw_data") != NULL);
  PASSES(tep_find_event_by_name(tep, "ftrace", "kernel_stack") != NULL);
  PASSES(tep_get_sub_buffer_size(tep) == 4080 || tep_get_sub_buffer_size(tep) == 4096);
}

static void make_an_instance(void) {
  instance = tracefs_instance_create(name);
  PASSES(instance != NULL);
  if (!instance) exit(1);
  PASSES(tracefs_instance_is_new(instance));
  PASSES(strcmp(tracefs_instance_get_name(instance), name) == 0);
  PASSES(tracefs_instance_exists(name));
  PASSES(tracefs_instance_get_trace_dir(instance) != NULL);
  PASSES(has_file(tracefs_instance_get_dir(instance)));
  PASSES(has_file(tracefs_instance_get_file(instance, "trace")));
  PASSES(has_name(tracefs_instances(NULL), name));
}

static void use_its_files(void) {
  long long number = -1;
  PASSES(tracefs_instance_file_write(instance, "current_tracer", "nop") > 0);
  PASSES(tracefs_instance_file_append(instance, "trace_marker", "appended") > 0);
  PASSES(has_text(tracefs_instance_file_read(instance, "trace", NULL), "appended"));
  SUCCEEDS(tracefs_instance_file_clear(instance, "trace"));
  PASSES(!has_text(tracefs_instance_file_read(instance, "trace", NULL), "appended"));
  SUCCEEDS(tracefs_instance_file_read_number(instance, "tracing_on", &number));
  PASSES(number == 1);
  SUCCEEDS(close(tracefs_instance_file_open(instance, "trace_options", O_RDONLY)));
  SUCCEEDS(tracefs_trace_off(instance));
  SUCCEEDS(tracefs_trace_is_on(instance));
  SUCCEEDS(tracefs_trace_on(instance));
  PASSES(tracefs_trace_is_on(instance) == 1);
  const int fd = tracefs_trace_on_get_fd(instance);
  PASSES(fd >= 0);
  SUCCEEDS(tracefs_trace_off_fd(fd));
  SUCCEEDS(tracefs_trace_on_fd(fd));
  close(fd);
  PASSES(tracefs_instance_file_write(instance, "trace_clock", "mono") > 0);
  PASSES(has_text(tracefs_get_clock(instance), "mono"));
}

static void change_its_settings(void) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  PASSES(tracefs_instance_set_affinity(instance, "0") >= 0);
  PASSES(has_text(tracefs_instance_get_affinity(instance), "0"));
  PASSES(tracefs_instance_set_affinity_raw(instance, "1") >= 0);
  PASSES(tracefs_instance_set_affinity_set(instance, &cpus, sizeof cpus) >= 0);
  PASSES(tracefs_instance_get_affinity_set(instance, &cpus, sizeof cpus) >= 0);
  PASSES(tracefs_instance_set_affinity(instance, NULL) >= 0);
  SUCCEEDS(tracefs_instance_set_buffer_size(instance, 2048, -1));
  if (tracefs_file_exists(instance, "per_cpu/cpu0/buffer_size_kb")) {
    PASSES(tracefs_instance_get_buffer_size(instance, 0) >= 2048);
    SUCCEEDS(tracefs_instance_set_buffer_size(instance, 1024, 0));
    PASSES(tracefs_instance_get_buffer_size(instance, 0) < 2048);
  }
  SUCCEEDS(tracefs_instance_set_buffer_size(instance, 4096, -1));
  for (int i = TRACEFS_OPTION_INVALID + 1; i < TRACEFS_OPTION_MAX; ++i) {
    const enum tracefs_option_id option = (enum tracefs_option_id)i;
    // record-cmd is shared with the kernel's other instances. disable_on_free says nothing here.
    if (option == TRACEFS_OPTION_RECORD_CMD || !tracefs_option_is_supported(instance, option))
      continue;
    const bool was_on = tracefs_option_is_enabled(instance, option);
    char call[64];
    snprintf(call, sizeof call, "tracefs_option_%s(%s)", was_on ? "disable" : "enable",
             tracefs_option_name(option));
    report(call, (was_on ? tracefs_option_disable : tracefs_option_enable)(instance, option) == 0 &&
                     tracefs_option_is_enabled(instance, option) != was_on);
    (was_on ? tracefs_option_enable : tracefs_option_disable)(instance, option);
  }
  SUCCEEDS(tracefs_tracer_set(instance, TRACEFS_TRACER_NOP));
  SUCCEEDS(tracefs_tracer_clear(instance));
}

static void choose_events(void) {
  SUCCEEDS(tracefs_event_enable(instance, "sched", "sched_switch"));
  PASSES(tracefs_event_is_enabled(instance, "sched", "sched_switch") == TRACEFS_ALL_ENABLED);
  PASSES(tracefs_event_is_enabled(instance, "sched", NULL) == TRACEFS_SOME_ENABLED);
  SUCCEEDS(tracefs_event_disable(instance, "sched", "sched_switch"));
  PASSES(tracefs_event_is_enabled(instance, "sched", NULL) == TRACEFS_ALL_DISABLED);
  SUCCEEDS(tracefs_event_enable(instance, "task", NULL));
  SUCCEEDS(tracefs_event_disable(instance, "task", NULL));
  PASSES(has_file(tracefs_event_get_file(instance, "sched", "sched_switch", "id")));
  PASSES(tracefs_event_file_exists(instance, "sched", "sched_switch", "filter"));
  PASSES(has_text(tracefs_event_file_read(instance, "sched", "sched_switch", "format", NULL),
                  "prev_comm"));
  PASSES(tracefs_event_file_write(instance, "sched", "sched_switch", "filter", "prev_pid == 1") >
         0);
  PASSES(has_text(tracefs_event_file_read(instance, "sched", "sched_switch", "filter", NULL),
                  "prev_pid == 1"));
  PASSES(tracefs_event_file_write(instance, "sched", "sched_switch", "filter", "0") > 0);
  PASSES(tracefs_event_file_append(instance, "sched", "sched_switch", "trigger",
                                   "traceoff if prev_pid == -5") > 0);
  PASSES(tracefs_event_file_append(instance, "sched", "sched_switch", "trigger",
                                   "!traceoff if prev_pid == -5") > 0);
}

static void filter_events(void) {
  struct tep_event* const event = tep_find_event_by_name(tep, "sched", "sched_switch");
  char *filter = NULL, *error = NULL;
  SUCCEEDS(tracefs_filter_string_append(event, &filter, TRACEFS_FILTER_COMPARE, "next_pid",
                                        TRACEFS_COMPARE_GT, "0"));
  SUCCEEDS(tracefs_filter_string_append(event, &filter, TRACEFS_FILTER_AND, NULL, 0, NULL));
  SUCCEEDS(tracefs_filter_string_append(event, &filter, TRACEFS_FILTER_COMPARE, "prev_comm",
                                        TRACEFS_COMPARE_RE, "\"a*\""));
  SUCCEEDS(tracefs_filter_string_verify(event, filter, &error));
  PASSES(tracefs_event_filter_apply(instance, event, filter) >= 0);
  PASSES(tracefs_event_filter_clear(instance, event) >= 0);
  SUCCEEDS(tracefs_error_clear(NULL));
  PASSES(tracefs_event_file_write(instance, "sched", "sched_switch", "filter",
                                  "no_such_field == 1") < 0);
  PASSES(has_text(tracefs_error_last(instance), "Field not found"));
  PASSES(has_text(tracefs_error_all(instance), "no_such_field"));
  SUCCEEDS(tracefs_error_clear(instance));
  PASSES(!is_text(tracefs_error_all(instance)));
  PASSES(tracefs_event_file_write(instance, "sched", "sched_switch", "filter", "0") > 0);
  free(filter);
}

static void make_histograms(void) {
  struct tracefs_hist_axis axes[] = {{"next_pid", 0}, {"next_prio", 0}, {NULL, 0}};
  struct tracefs_hist* hist = tracefs_hist_alloc_nd(tep, "sched", "sched_switch", axes);
  PASSES(hist != NULL);
  tracefs_hist_free(hist);
  hist = tracefs_hist_alloc_2d(tep, "sched", "sched_switch", "next_pid", 0, "prev_pid", 0);
  PASSES(hist != NULL);
  tracefs_hist_free(hist);
  hist = tracefs_hist_alloc(tep, "sched", "sched_switch", "next_pid", TRACEFS_HIST_KEY_HEX);
  PASSES(hist != NULL);
  SUCCEEDS(tracefs_hist_add_key(hist, "prev_prio", TRACEFS_HIST_KEY_LOG));
  SUCCEEDS(tracefs_hist_add_value(hist, "prev_state"));
  SUCCEEDS(tracefs_hist_add_sort_key(hist, "next_pid"));
  SUCCEEDS(tracefs_hist_sort_key_direction(hist, "next_pid", TRACEFS_HIST_SORT_DESCENDING));
  SUCCEEDS(tracefs_hist_add_name(hist, name));
  SUCCEEDS(tracefs_hist_append_filter(hist, TRACEFS_FILTER_COMPARE, "next_pid", TRACEFS_COMPARE_GT,
                                      "0"));
  PASSES(strcmp(tracefs_hist_get_event(hist), "sched_switch") == 0);
  SUCCEEDS(tracefs_hist_start(instance, hist));
  SUCCEEDS(tracefs_hist_pause(instance, hist));
  SUCCEEDS(tracefs_hist_continue(instance, hist));
  SUCCEEDS(tracefs_hist_reset(instance, hist));
  PASSES(has_text(tracefs_event_file_read(instance, "sched", "sched_switch", "hist", NULL),
                  "trigger info: hist:"));
  SUCCEEDS(tracefs_hist_destroy(instance, hist));
  tracefs_hist_free(hist);
}

static void make_synthetic_events(void) {
  struct tracefs_synth* synth = tracefs_synth_alloc(tep, name, "sched", "sched_waking", "sched",
                                                    "sched_switch", "pid", "next_pid", "pid");
  char* error = NULL;
  PASSES(synth != NULL);
  SUCCEEDS(tracefs_synth_add_compare_field(synth, TRACEFS_TIMESTAMP_USECS, TRACEFS_TIMESTAMP_USECS,
                                           TRACEFS_SYNTH_DELTA_END, "delta"));
  SUCCEEDS(tracefs_synth_add_start_field(synth, "prio", "start_prio"));
  SUCCEEDS(tracefs_synth_add_end_field(synth, "next_comm", "comm"));
  SUCCEEDS(tracefs_synth_append_start_filter(synth, TRACEFS_FILTER_COMPARE, "prio",
                                             TRACEFS_COMPARE_LT, "200"));
  SUCCEEDS(tracefs_synth_append_end_filter(synth, TRACEFS_FILTER_COMPARE, "next_pid",
                                           TRACEFS_COMPARE_NE, "0"));
  SUCCEEDS(tracefs_synth_trace(synth, TRACEFS_SYNTH_HANDLE_MATCH, NULL));
  PASSES(tracefs_synth_complete(synth));
  PASSES(strcmp(tracefs_synth_get_name(synth), name) == 0);
  SUCCEEDS(tracefs_synth_create(synth));
  PASSES(tracefs_synth_get_event(tep, synth) != NULL);
  struct tracefs_dynevent** all = tracefs_dynevent_get_all(TRACEFS_DYNEVENT_SYNTH, NULL);
  PASSES(all != NULL);
  tracefs_dynevent_list_free(all);
  struct tracefs_dynevent* const one = tracefs_dynevent_get(TRACEFS_DYNEVENT_SYNTH, NULL, name);
  PASSES(one != NULL);
  if (one)
    PASSES(tracefs_dynevent_info(one, NULL, NULL, NULL, NULL, NULL) == TRACEFS_DYNEVENT_SYNTH);
  tracefs_dynevent_free(one);
  SUCCEEDS(tracefs_synth_destroy(synth));
  tracefs_synth_free(synth);
  synth = tracefs_sql(
      tep, name,
      "SELECT start.pid, end.next_comm, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS delta "
      "FROM sched_waking AS start JOIN sched_switch AS end ON start.pid = end.next_pid",
      &error);
  PASSES(synth != NULL);
  SUCCEEDS(tracefs_synth_create(synth));
  SUCCEEDS(tracefs_synth_destroy(synth));
  tracefs_synth_free(synth);
}

static void write_markers(void) {
  char raw[16] = "?   raw bytes";
  SUCCEEDS(tracefs_instance_file_clear(instance, "trace"));
  SUCCEEDS(tracefs_print_init(instance));
  SUCCEEDS(tracefs_printf(instance, "marker %d", 17));
  tracefs_print_close(instance);
  PASSES(has_text(tracefs_instance_file_read(instance, "trace", NULL),
                  "tracing_mark_write: marker 17"));
  if (!tracefs_file_exists(instance, "trace_marker_raw")) return;
  SUCCEEDS(tracefs_binary_init(instance));
  SUCCEEDS(tracefs_binary_write(instance, raw, sizeof raw));
  tracefs_binary_close(instance);
  PASSES(has_text(tracefs_instance_file_read(instance, "trace", NULL), "buf: 72 61 77 20"));
}

struct seen {
  int markers, others, followed;
};

static int see(struct tep_event* event, struct tep_record* record, int cpu, void* context) {
  struct seen* const seen = context;
  struct trace_seq text;
  (void)cpu;
  trace_seq_init(&text);
  tep_print_event(tep, &text, record, "%s", TEP_PRINT_INFO);
  trace_seq_terminate(&text);
  if (strcmp(event->name, "print") == 0 && strstr(text.buffer, "marker 17"))
    ++seen->markers;
  else
    ++seen->others;
  trace_seq_destroy(&text);
  return 0;
}
static int follow(struct tep_event* event, struct tep_record* record, int cpu, void* context) {
  (void)event, (void)record, (void)cpu;
  ++((struct seen*)context)->followed;
  return 0;
}

static void read_the_records(void) {
  struct seen seen = {0};
  SUCCEEDS(tracefs_follow_event(tep, instance, "ftrace", "print", follow, &seen));
  SUCCEEDS(tracefs_iterate_raw_events(tep, instance, NULL, 0, see, &seen));
  PASSES(seen.markers == 1);
  PASSES(seen.others == (tracefs_file_exists(instance, "trace_marker_raw") ? 1 : 0));
  PASSES(seen.followed == 1);
  SUCCEEDS(tracefs_iterate_raw_events(tep, instance, NULL, 0, see, &seen));
  PASSES(seen.markers == 1);
}

static bool has_bytes(int fd) { return lseek(fd, 0, SEEK_END) > 0; }

// Marks CPU 0, whose buffer is read.
static void mark(void) {
  cpu_set_t before, first;
  sched_getaffinity(0, sizeof before, &before);
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  sched_setaffinity(0, sizeof first, &first);
  tracefs_printf(instance, "for a page");
  sched_setaffinity(0, sizeof before, &before);
}

static void read_pages(void) {
  FILE* const file = tmpfile();
  struct tracefs_cpu* const cpu = tracefs_cpu_open(instance, 0, true);
  PASSES(cpu != NULL);
  if (!cpu) return;
  const int bytes = tracefs_cpu_read_size(cpu);
  char* const page = calloc(1, (size_t)bytes);
  PASSES(bytes == 4096);
  PASSES(tracefs_cpu_read(cpu, page, true) <= 0);
  mark();
  PASSES(tracefs_cpu_read(cpu, page, true) == bytes);
  mark();
  PASSES(tracefs_cpu_buffered_read(cpu, page, true) > 0);
  mark();
  PASSES(tracefs_cpu_write(cpu, fileno(file), true) > 0);
  PASSES(has_bytes(fileno(file)));
  mark();
  PASSES(tracefs_cpu_flush(cpu, page) > 0);
  mark();
  PASSES(tracefs_cpu_flush_write(cpu, fileno(file)) > 0);
  tracefs_cpu_close(cpu);
  free(page);
  fclose(file);
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  name = arguments[1];
  call_the_top();
  parse_the_events();
  make_an_instance();
  use_its_files();
  change_its_settings();
  choose_events();
  filter_events();
  make_histograms();
  make_synthetic_events();
  write_markers();
  read_the_records();
  read_pages();
  tracefs_print_close(instance);
  SUCCEEDS(tracefs_instance_destroy(instance));
  PASSES(!tracefs_instance_exists(name));
  tracefs_instance_free(instance);
  tep_free(tep);
  return 0;
}
