# The kernel documentation's examples of histograms of several events, as they stand there, on
# events of these names; and the rules that scripts rely on, one by one.
T=$MNT/tracing
E=$MNT/tracing/events

_define() {
  send 'event define sched/sched_waking char comm[16]; pid_t pid; int prio; int target_cpu' \
    'event define sched/sched_wakeup_new char comm[16]; pid_t pid; int prio; int target_cpu' \
    'event define sched/sched_switch char prev_comm[16]; pid_t prev_pid; int prev_prio; long prev_state; char next_comm[16]; pid_t next_pid; int next_prio' \
    'event define kmem/kmalloc unsigned long call_site; unsigned long bytes_req; unsigned long bytes_alloc; gfp_t gfp_flags; char[] name'
  wait_until '[ -d "$E/kmem/kmalloc" ]'
}
# _script: as it stands in the documentation, with the paths of an older mount.
_script() {
  sed "s|/sys/kernel/debug/tracing|$T|g" | bash -e || fail "the script ended with $?" \
    "$(cat "$T/error_log")"
}
_waking() { send "event sched/sched_waking comm=$1 pid=$2 prio=$3 target_cpu=1"; }
_switch() { send "event sched/sched_switch prev_comm=swapper/1 prev_pid=0 prev_prio=120 next_comm=$1 next_pid=$2 next_prio=$3"; }

variables_are_set_before_or_behind_their_use() {
  _define
  _script <<'EOT'
cd /sys/kernel/debug/tracing/events
echo 'hist:keys=next_pid:vals=$ts0:ts0=common_timestamp' >> sched/sched_switch/trigger
echo 'hist:timer_pid=common_pid:key=timer_pid' >> sched/sched_wakeup_new/trigger
echo > sched/sched_switch/trigger
echo 'hist:keys=next_pid:ts1=common_timestamp' >> sched/sched_switch/trigger
echo 'hist:keys=pid:vals=$ts0,$b:ts0=common_timestamp,b=prio' >> sched/sched_waking/trigger
echo > sched/sched_waking/trigger
echo 'hist:keys=pid:ts0=common_timestamp,b=prio:vals=$ts0,$b' >> sched/sched_waking/trigger
echo > sched/sched_waking/trigger
echo 'hist:keys=pid:ts0=common_timestamp:b=prio' >> sched/sched_waking/trigger
EOT
  assert_match 'hist:keys=pid:vals=hitcount:ts0=common_timestamp,b=prio:sort=hitcount:size=2048:clock=global \[active\]' "$(cat "$E/sched/sched_waking/trigger")"
}

latencies_are_added_to_latencies() {
  _define
  _script <<'EOT'
cd /sys/kernel/debug/tracing/events
echo 'hist:keys=pid,prio:ts0=common_timestamp' >> sched/sched_waking/trigger
echo 'hist:keys=next_pid,next_prio:wakeup_lat=common_timestamp-$ts0:switchtime_lat=next_prio' >> sched/sched_switch/trigger
echo 'hist:key=pid,prio:wakeupswitch_lat=$wakeup_lat+$switchtime_lat:vals=$wakeupswitch_lat' >> sched/sched_wakeup_new/trigger
EOT
  _waking a 7 19
  _switch a 7 19
  send 'event sched/sched_wakeup_new pid=7 prio=19'
  assert_has 'Hits: 1' "$(cat "$E/sched/sched_wakeup_new/hist")"
}

a_synthetic_event_is_defined_shown_and_removed() {
  _script <<'EOT'
 echo 'wakeup_latency \
          u64 lat; \
          pid_t pid; \
          int prio' >> \
          /sys/kernel/debug/tracing/synthetic_events
test "$(cat /sys/kernel/debug/tracing/synthetic_events)" = "wakeup_latency	u64 lat; pid_t pid; int prio"
ls /sys/kernel/debug/tracing/events/synthetic/wakeup_latency | grep -x format
 echo '!wakeup_latency u64 lat pid_t pid int prio' >> \
       /sys/kernel/debug/tracing/synthetic_events
test -z "$(cat /sys/kernel/debug/tracing/synthetic_events)"
EOT
}

an_event_causes_a_synthetic_one_of_itself() {
  _define
  _script <<'EOT'
 echo 'wakeup_new_test pid_t pid' >> \
      /sys/kernel/debug/tracing/synthetic_events
 echo 'hist:keys=$testpid:testpid=pid:onmatch(sched.sched_wakeup_new).\
      wakeup_new_test($testpid) if comm=="cyclictest"' >> \
      /sys/kernel/debug/tracing/events/sched/sched_wakeup_new/trigger
 echo 'hist:keys=pid:sort=pid' >> \
      /sys/kernel/debug/tracing/events/synthetic/wakeup_new_test/trigger
EOT
  send 'event sched/sched_wakeup_new comm=cyclictest pid=5' \
    'event sched/sched_wakeup_new comm=cat pid=6' \
    'event sched/sched_wakeup_new comm=cyclictest pid=4'
  assert_match '.*
\{ pid: +4 \} hitcount: +1
\{ pid: +5 \} hitcount: +1

Totals:
    Hits: 2
    Entries: 2
    Dropped: 0' "$(cat "$E/synthetic/wakeup_new_test/hist")"
}

the_wakeup_latency_of_cyclictest() {
  _define
  _script <<'EOT'
 echo 'wakeup_latency u64 lat; pid_t pid; int prio' >> \
      /sys/kernel/debug/tracing/synthetic_events
 echo 'hist:keys=$saved_pid:saved_pid=pid:ts0=common_timestamp.usecs \
      if comm=="cyclictest"' >> \
      /sys/kernel/debug/tracing/events/sched/sched_waking/trigger
 echo 'hist:keys=next_pid:wakeup_lat=common_timestamp.usecs-$ts0:\
      onmatch(sched.sched_waking).wakeup_latency($wakeup_lat,\
              $saved_pid,next_prio) if next_comm=="cyclictest"' >> \
      /sys/kernel/debug/tracing/events/sched/sched_switch/trigger
 echo 'hist:keys=pid,prio,lat:sort=pid,lat' >> \
      /sys/kernel/debug/tracing/events/synthetic/wakeup_latency/trigger
EOT
  _waking cyclictest 2256 19
  _waking cat 77 120
  _switch cyclictest 2256 19
  _switch cat 77 120
  assert_match '.*
\{ pid: +2256, prio: +19, lat: +[0-9]+ \} hitcount: +1

Totals:
    Hits: 1
    Entries: 1
    Dropped: 0' "$(cat "$E/synthetic/wakeup_latency/hist")"
}

the_highest_latency_with_the_task_that_it_waited_for() {
  _define
  _script <<'EOT'
 echo 'hist:keys=pid:ts0=common_timestamp.usecs \
      if comm=="cyclictest"' >> \
      /sys/kernel/debug/tracing/events/sched/sched_waking/trigger
 echo 'hist:keys=next_pid:\
      wakeup_lat=common_timestamp.usecs-$ts0:\
      onmax($wakeup_lat).save(next_comm,prev_pid,prev_prio,prev_comm) \
      if next_comm=="cyclictest"' >> \
      /sys/kernel/debug/tracing/events/sched/sched_switch/trigger
EOT
  _waking cyclictest 2255 19
  # Taken in before the other one: a daemon that has been waiting for a CPU takes both in at one
  # moment.
  assert_has 'Hits: 1' "$(cat "$E/sched/sched_waking/hist")"
  _switch cyclictest 2255 19
  assert_match '.*
\{ next_pid: +2255 \} hitcount: +1
	max: +[0-9]+  next_comm: cyclictest +prev_pid: +0  prev_prio: +120  prev_comm: swapper/1 *

Totals:.*' "$(cat "$E/sched/sched_switch/hist")"
}

whatever_is_set_is_taken_off_by_the_lines_that_show_it() {
  _define
  _script <<'EOT'
cd /sys/kernel/debug/tracing
echo 'lat u64 lat' >> synthetic_events
echo 'hist:keys=pid:ts0=common_timestamp.usecs if prio < 100' >> events/sched/sched_waking/trigger
echo 'hist:keys=next_pid:l=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).lat($l)' >> events/sched/sched_switch/trigger
echo 'traceoff:3 if prio == 99' >> events/sched/sched_waking/trigger
echo 'stacktrace' >> events/sched/sched_waking/trigger
echo 'snapshot:1' >> events/sched/sched_waking/trigger
echo 'enable_event:kmem:kmalloc' >> events/sched/sched_waking/trigger
echo 'disable_event:kmem:kmalloc:5 if next_prio == 7' >> events/sched/sched_switch/trigger
echo 'enable_hist:kmem:kmalloc' >> events/sched/sched_switch/trigger
echo 'hist:name=foo:keys=call_site.hex:vals=bytes_req' >> events/kmem/kmalloc/trigger
 all() { find events -name trigger | xargs grep -Hv '^#' || true; }
# First those with actions, since they refer to others; opened for appending, which removes nothing
# by itself.
for which in ':on[^:]*(' .; do
  all | { grep "$which" || true; } | while read -r line; do
    echo "!$(echo "$line" | cut -f2- -d: | cut -f1 -d'[')" >> "${line%%:*}"
  done
done
test -z "$(all)"
echo '!lat u64 lat' >> synthetic_events
test -z "$(cat synthetic_events)"
EOT
}

# Each line of the contract's tables, as a script has it.
commands_are_taken_as_the_kernel_takes_them() {
  _define
  local each
  cd "$E/kmem/kmalloc"
  for each in 'hist:key=call_site' 'hist:keys=call_site,gfp_flags,name:val=bytes_req,bytes_alloc' \
    'hist:keys=common_cpu,common_pid,common_comm' \
    'hist:keys=cpu' 'hist:keys=common_timestamp.usecs' 'hist:keys=common_stacktrace' \
      'hist:keys=stacktrace' 'hist:keys=common_pid.execname' \
    'hist:keys=call_site.hex' 'hist:keys=call_site.sym' 'hist:keys=call_site.sym-offset' \
      'hist:keys=call_site.syscall' 'hist:keys=bytes_req.log2' \
    'hist:keys=bytes_req.buckets=32' 'hist:keys=call_site:vals=bytes_req.percent' \
      'hist:keys=call_site:vals=bytes_req.graph' 'hist:keys=call_site:vals=bytes_req.hex' \
    'hist:keys=call_site:vals=bytes_req,bytes_alloc:sort=bytes_req.descending,bytes_alloc.ascending' 'hist:keys=call_site:size=128' \
    'hist:keys=call_site:size=131072' 'hist:keys=call_site:pause' \
      'hist:keys=call_site:vals=bytes_req:nohitcount' 'hist:keys=call_site:vals=bytes_req:NOHC' \
    'hist:name=foo:keys=call_site' 'hist:keys=$v:v=call_site' \
      'hist:keys=call_site:x=bytes_alloc-bytes_req' 'hist:keys=call_site:x=bytes_alloc*3/2+1' \
    'hist:keys=call_site:x=-(bytes_req)' 'hist:keys=call_site:x=bytes_req:onmax($x).snapshot()' \
      'hist:keys=call_site:x=bytes_req:onchange($x).save(name,gfp_flags)' \
    'traceon' 'traceoff:5' 'stacktrace:3 if bytes_req > 65536' 'snapshot' \
      'snapshot:1 if bytes_req == 4' 'enable_event:sched:sched_switch' \
    'disable_event:sched:sched_switch:2' 'enable_hist:sched:sched_switch:1 if bytes_req == 1' \
      'disable_hist:sched:sched_switch' \
    'hist:keys=call_site if bytes_req >= 4 && (name == "a" || name ~ "b*") && !(gfp_flags & 1) && bytes_req != 7'; do
    echo "$each" >trigger || fail "$each" "$(cat "$T/error_log")"
    send 'event kmem/kmalloc call_site=0x10 bytes_req=4 bytes_alloc=8 name=a'
    cat hist trigger >/dev/null
    echo "!$each" >>trigger || fail "!$each" "$(cat "$T/error_log")"
    assert_eq '# Available triggers:' "$(head -1 trigger)" "$each"
  done
  for each in 'hist:keys=' 'hist:keys=junk' 'hist:keys=call_site:size=64' \
    'hist:keys=call_site:size=262144' 'hist:keys=call_site:vals=bytes_req.log2' \
    'hist:keys=call_site:vals=bytes_req.sym' 'hist:keys=call_site:x=bytes_req.percent' \
      'hist:keys=call_site:sort=junk' 'hist:keys=call_site:x=bytes_req/0' \
    'hist:keys=call_site:x=$junk+1' \
      'hist:keys=call_site:x=bytes_req:onmatch(kmem.kmalloc).save(name)' 'traceoff:x' \
      'enable_event:no:such' 'junk' \
    'hist:keys=call_site if junk == 1' 'hist:keys=call_site:nohitcount:junk'; do
    assert_fails bash -c 'echo "$1" >>trigger' - "$each"
    assert_eq '# Available triggers:' "$(head -1 trigger)" "$each"
  done
  cd /
}

types_of_synthetic_fields_are_those_of_the_contract() {
  local each
  for each in u8 u16 u32 u64 s8 s16 s32 s64 char int long 'unsigned char' 'unsigned int' \
    'unsigned long' bool pid_t gfp_t; do
    echo "x $each f" >>"$T/synthetic_events"
    assert_eq "x	$each f" "$(cat "$T/synthetic_events")"
    echo "!x" >>"$T/synthetic_events"
  done
  for each in 'char f[16]' 'char f[]' 'long[] f' 'unsigned long[] f'; do
    echo "s:synthetic/x $each" >>"$T/dynamic_events"
    assert_has 's:synthetic/x' "$(cat "$T/dynamic_events")"
    assert_eq 'enable filter format hist hist.json id trigger' "$(ls "$E/synthetic/x" | xargs)"
    echo '-:synthetic/x' >>"$T/dynamic_events"
  done
  for each in 'x junk f' 'x char f[257]' 'x' 'x int f; int f; int'; do
    assert_fails bash -c 'echo "$1" >>"$2"' - "$each" "$T/synthetic_events"
  done
  assert_eq '' "$(cat "$T/synthetic_events")"
}
