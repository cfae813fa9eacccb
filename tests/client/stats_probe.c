/* A feeder of stats/ that does as it is told on stdin, one command a line, and answers each with a
 * line: what the tests of publish.h against a real daemon are written with. Uses the public C
 * functions only, linked to libtally.so.
 *   template NAME [VOIS]               u32 VOIs x0, x1, ... with SUM and MAX; 1 if not said
 *   blob NAME TEMPLATE                 a new one
 *   update NAME VALUE                  of VOI 0
 *   object SUBSYSTEM OBJECT [always|feeder]   publish-object SUBSYSTEM/OBJECT BLOB    remove SUBSYSTEM/OBJECT
 *   publish SUBSYSTEM OBJECT BLOB      withdraw SUBSYSTEM [OBJECT]
 *   follow SUBSYSTEM [TEMPLATE PERCENT]   its rates, which begin so
 *   rates                              as the callback has them
 *   refuse ERRNO                       what the callback answers to new ones
 *   last SUBSYSTEM/OBJECT BLOB         with or without demand
 *   nulls                              to calls that take none
 *   roll TIMES                         how many of so many rolls chose a template
 *   seed TEXT                          which template the seed chooses
 *   cost TIMES SUBSYSTEM/OBJECT BLOB   nanoseconds of each of so many publications
 *   sync MS    become-child    end */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tally/publish.h>
#include <tally/statistic.h>
#include <time.h>
#include <unistd.h>

#define THINGS 64

struct named {
  char name[128];
  void *thing;
};
static struct named blobs[THINGS], objects[THINGS];

static struct named *find(struct named *list, const char *name) {
  for (int i = 0; i < THINGS; ++i) {
    if (!list[i].name[0] || strcmp(list[i].name, name) == 0) {
      snprintf(list[i].name, sizeof list[i].name, "%s", name);
      return &list[i];
    }
  }
  exit(3);
}

static pthread_mutex_t rates_lock = PTHREAD_MUTEX_INITIALIZER;
static struct stats_tpl_sample_rate *rates;
static int rates_count;
static int refusal;

static int keep_rates(enum stats_tpl_sr_cb_action action, struct stats_tpl_sample_rate **list,
                      int *count, void *context) {
  (void)context;
  switch (action) {
    case TPL_SR_RLOCKED_GET:
      pthread_mutex_lock(&rates_lock);
      *list = rates;
      *count = rates_count;
      break;
    case TPL_SR_RUNLOCK:
      pthread_mutex_unlock(&rates_lock);
      break;
    case TPL_SR_UNLOCKED_GET:
      *list = rates;
      *count = rates_count;
      break;
    case TPL_SR_PUT: {
      if (refusal) return refusal;
      pthread_mutex_lock(&rates_lock);
      struct stats_tpl_sample_rate *const old = rates;
      const int old_count = rates_count;
      rates = *list;
      rates_count = *count;
      *list = old;
      *count = old_count;
      pthread_mutex_unlock(&rates_lock);
      break;
    }
  }
  return 0;
}

static const char *result(int error) {
  return error == 0 ? "ok" : strerrorname_np(error < 0 ? -error : error);
}

static const char *make_template(const char *name, int vois) {
  struct voistatspec vss[] = {STATS_VSS_SUM(), STATS_VSS_MAX()};
  const int id = stats_tpl_alloc(name, 0);
  if (id < 0) return result(id);
  for (int i = 0; i < vois; ++i) {
    char voi[16];
    snprintf(voi, sizeof voi, "x%d", i);
    const int error =
        stats_tpl_add_voistats((uint32_t)id, i, voi, VSD_DTYPE_INT_U32, NVSS(vss), vss, 0);
    if (error) return result(error);
  }
  return "ok";
}

static const char *follow(const char *subsystem, const char *name, unsigned percent) {
  if (name[0]) {
    rates = malloc(sizeof *rates);
    rates->tpl_slot_id = stats_tpl_fetch_allocid(name, 0);
    rates->tpl_sample_pct = percent;
    rates_count = 1;
  }
  return result(stats_subsystem_rates(subsystem, keep_rates, 0));
}

static void print_rates(void) {
  pthread_mutex_lock(&rates_lock);
  for (int i = 0; i < rates_count; ++i) {
    char name[TPL_MAX_NAME_LEN + 1] = "?";
    stats_tpl_id2name((uint32_t)rates[i].tpl_slot_id, name, sizeof name);
    printf("%s%s=%u", i ? " " : "", name, rates[i].tpl_sample_pct);
  }
  pthread_mutex_unlock(&rates_lock);
  puts("");
}

static int roll(char *seed) {
  pthread_mutex_lock(&rates_lock);
  const int chosen =
      stats_tpl_sample_rollthedice(rates, rates_count, seed, seed ? strlen(seed) : 0);
  pthread_mutex_unlock(&rates_lock);
  return chosen;
}

static const char *give_nulls(struct statsblob *blob) {
  struct stats_object *none = NULL;
  char why[64] = "";
  stats_object_remove(NULL);
  stats_object_remove(&none);
  if (stats_object_create(NULL, "web", "a", 0) != -EINVAL ||
      stats_object_create(&none, NULL, "a", 0) != -EINVAL)
    return "create";
  if (stats_on_object_publish(NULL, blob) != -EINVAL || stats_publish("web", "a", NULL) != -EINVAL)
    return "publish";
  if (stats_blob_check(NULL, 32, why, sizeof why) != EINVAL || !why[0]) return "check";
  return "ok";
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double cost(long times, struct stats_object *object, const struct statsblob *blob) {
  const double begun = now_ns();
  for (long i = 0; i < times; ++i) stats_object_publish(object, blob);
  return (now_ns() - begun) / (double)times;
}

static const char *become_child(void) {
  const pid_t child = fork();
  if (child == 0) return "ok";
  int status = 0;
  waitpid(child, &status, 0);
  exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static const char *obey(const char *verb, char *a, char *b, char *c) {
  if (strcmp(verb, "template") == 0) return make_template(a, b[0] ? atoi(b) : 1);
  if (strcmp(verb, "blob") == 0) {
    const int id = stats_tpl_fetch_allocid(b, 0);
    find(blobs, a)->thing = id < 0 ? NULL : stats_blob_alloc((uint32_t)id, 0);
    return find(blobs, a)->thing ? "ok" : "none";
  }
  if (strcmp(verb, "update") == 0)
    return result(stats_voi_update_abs_u32(find(blobs, a)->thing, 0, (uint32_t)atol(b)));
  if (strcmp(verb, "object") == 0) {
    char path[128];
    struct stats_object *made;
    const int error = stats_object_create(&made, a, b,
                                          strcmp(c, "always") == 0   ? STATS_PUBLISH_ALWAYS
                                          : strcmp(c, "feeder") == 0 ? STATS_LIFETIME_FEEDER
                                                                     : 0);
    snprintf(path, sizeof path, "%.60s/%.60s", a, b);
    if (error == 0) find(objects, path)->thing = made;
    return result(error);
  }
  if (strcmp(verb, "publish-object") == 0)
    return result(stats_object_publish(find(objects, a)->thing, find(blobs, b)->thing));
  if (strcmp(verb, "last") == 0)
    return result(stats_on_object_publish(find(objects, a)->thing, find(blobs, b)->thing));
  if (strcmp(verb, "refuse") == 0) return refusal = atoi(a), "ok";
  if (strcmp(verb, "nulls") == 0) return give_nulls(find(blobs, a)->thing);
  if (strcmp(verb, "remove") == 0)
    return stats_object_remove((struct stats_object **)&find(objects, a)->thing), "ok";
  if (strcmp(verb, "publish") == 0) return result(stats_publish(a, b, find(blobs, c)->thing));
  if (strcmp(verb, "withdraw") == 0) return result(stats_withdraw(a, b[0] ? b : NULL));
  if (strcmp(verb, "follow") == 0) return follow(a, b, (unsigned)atoi(c));
  if (strcmp(verb, "rates") == 0) return print_rates(), NULL;
  if (strcmp(verb, "roll") == 0) {
    long chosen = 0;
    for (long i = atol(a); i > 0; --i) chosen += roll(NULL) >= 0;
    return printf("%ld\n", chosen), NULL;
  }
  if (strcmp(verb, "seed") == 0) return printf("%d\n", roll(a)), NULL;
  if (strcmp(verb, "cost") == 0)
    return printf("%.1f\n", cost(atol(a), find(objects, b)->thing, find(blobs, c)->thing)), NULL;
  if (strcmp(verb, "sync") == 0) return result(statistic_sync((unsigned)atoi(a)));
  if (strcmp(verb, "become-child") == 0) return become_child();
  if (strcmp(verb, "end") == 0) exit(0);
  return "what?";
}

static void report(const char *text, void *context) {
  (void)context;
  fprintf(stderr, "%s\n", text);
}

int main(void) {
  struct statistic_settings settings = STATISTIC_SETTINGS_DEFAULT;
  settings.report = report;
  statistic_configure(&settings);
  for (char line[512]; fgets(line, sizeof line, stdin);) {
    char verb[64] = "", a[128] = "", b[128] = "", c[128] = "";
    sscanf(line, "%63s %127s %127s %127s", verb, a, b, c);
    const char *const said = obey(verb, a, b, c);
    if (said) puts(said);
    fflush(stdout);
  }
  return 0;
}
