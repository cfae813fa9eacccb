// The text of tracing/README, the mini-manual of the directory. Scripts search it for the features
// of a kernel, so features are named in the words that scripts search for. A constant.
#pragma once

#include <string_view>

namespace tallyfs::tracing {

inline constexpr std::string_view kTracingReadme =
    R"(tracing mini-HOWTO, of tallyfs:

This directory takes what scripts write into the kernel's tracing directory. Its events are the
kernel's (tallyfs -o tracefs), those of user programs (tally/event.h, or `event` lines on the socket)
and synthetic ones. The language of triggers is told in full in TRIGGERS.md.

 Important files:
  available_events	- all events, SYSTEM:EVENT
  set_event		- which are on; write SYSTEM:EVENT, SYSTEM:*, EVENT, with '!' to turn off
  set_event_pid		- if set, only what these processes do is traced
  set_event_notrace_pid	- what these processes do is not
  events/enable		- 0 or 1 turns all events off or on; so do events/<system>/enable
			  and events/<system>/<event>/enable
  events/<system>/filter, events/<system>/<event>/filter
			- if set, only events passing the filter are traced
  events/<system>/<event>/format, id
			- the fields of an event, and its number
  trace			- what the events that are on left behind, and what stacktrace triggers and
			  trace_marker added. To clear it: echo > trace
  trace_pipe		- the same, each record once: a read takes it out, and waits for more
  tracing_on		- 0 stops, 1 goes on
  tracing_cpumask	- only what happens on these CPUs is traced, and seen by triggers
  buffer_size_kb	- how much is kept for each CPU; buffer_total_size_kb for all
  buffer_subbuf_size_kb	- the size of a page
  free_buffer		- the end of a write to it frees the buffers
  per_cpu/cpuN		- trace, trace_pipe, snapshot, stats and buffer_size_kb of one CPU
  per_cpu/cpuN/trace_pipe_raw, snapshot_raw
			- the records as pages of the kernel's ring buffer, each record once;
			  events/header_page and events/header_event describe them
  trace_options		- how it is shown, a word for each, with 'no' if off; options/ has a file for each
  saved_cmdlines	- the names of the processes in trace
  trace_marker		- what is written here becomes the event ftrace/print
  trace_marker_raw	- an id of 4 bytes and data become the event ftrace/raw_data
  trace_clock		- all times are CLOCK_MONOTONIC
  snapshot		- 1 takes a snapshot of trace, 0 frees it, others clear it
  instances		- mkdir instances/foo makes a set of its own, rmdir removes it
  error_log		- the last commands that failed, and why; any write clears it
  current_tracer	- nop
  synthetic_events	- Create/append/remove/show synthetic events
	  echo 'name type field; type field' >> synthetic_events
	  echo '!name type field' >> synthetic_events	removes it
	  char arrays of any length: 'name char name[]' >> synthetic_events
	  stacks: 'name long[] stack' >> synthetic_events
  uprobe_events		- Create/append/remove/show probes in programs, where the kernel has them
  probes.json		- What is known of these probes, as JSON
  uprobe_profile	- How often each place of these was met
	  p[:[<group>/]<event>] <path>:<offset> [<args>]	r: for returns
	  p[:[<group>/]<event>] <path>:<function>[+<offset>] [<args>]	$arg1, $arg2, ...
	  p[:[<group>/]<event>] <path>:<provider>:<marker> [<args>]
	  -:[<group>/][<event>]
  kprobe_events		- The same of functions of the kernel, where it has them; kprobe_profile
	  p[:[<group>/]<event>] [<module>:]<symbol>[+<offset>] [<args>]
	  r[maxactive][:[<group>/]<event>] [<module>:]<symbol> [<args>]
  dynamic_events	- Create/append/remove/show the generic dynamic events
	  s:[synthetic/]<event> <field> [<field>]
	  -:[synthetic/]<event>
	  and lines of uprobe_events and kprobe_events, where they are there

  events/<system>/<event>/trigger - commands that are carried out when the event happens
	  <trigger>[:count][ if <filter>], '!' before it removes it
	  trigger: traceon, traceoff
	           enable_event:<system>:<event>
	           disable_event:<system>:<event>
	           enable_hist:<system>:<event>
	           disable_hist:<system>:<event>
	           stacktrace
	           snapshot
	           hist (see below)

      hist trigger	- If set, event hits are aggregated into a hash table
	    Format: hist:keys=<field1[,field2,...]>
	            [:<var1>=<field|var_ref|numeric_literal>[,<var2>=...]]
	            [:values=<field1[,field2,...]>]
	            [:sort=<field1[,field2,...]>]
	            [:size=#entries]
	            [:pause][:continue][:clear]
	            [:name=histname1]
	            [:nohitcount]
	            [:<handler>.<action>]
	            [:limit=#entries][:expire=<time>]
	            [if <filter>]
	    Keys can be any field, or the special string 'common_stacktrace', 'common_timestamp',
	    'common_cpu', 'common_pid' and 'common_comm'. Values are summed up; 'hitcount' always is.
	    A variable is $<var>, or, if several events have it, by its fully-qualified name
	    <system>.<event>.$<var>.
	    .descending may be appended to a sort field, and to fields:
	            .hex        display a number as a hex value
	            .sym        display an address as a symbol
	            .sym-offset display an address as a symbol and offset
	            .execname   display a common_pid as a program name
	            .syscall    display a syscall id as a syscall name
	            .log2       display log2 value rather than raw number
	            .buckets=size  display values in groups of size rather than raw number
	            .usecs      display a common_timestamp in microseconds
	            .percent    display a number of percentage value
	            .graph      display a bar-graph of a value
	            .stacktrace display as a stacktrace (must be of type long[])
	            .avg .min .max .stddev .p50 .p99 .p999 .log2=K   ours: see TRIGGERS.md
	    The available handlers are:
	        onmatch(matching.event)  - invoke on addition or update
	        onmax(var)               - invoke if var exceeds current max
	        onchange(var)            - invoke action if var changes
	    The available actions are:
	        trace(<synthetic_event>,param list)  - generate synthetic event
	        save(field,...)                      - save current event fields
	        snapshot()                           - snapshot the trace buffer

  events/<system>/<event>/hist	- the histograms; hist.json the same as JSON. poll(2) waits for news.
)";

}  // namespace tallyfs::tracing
