// The formats of Linux 6.18, as read from tracefs: those with a print fmt have it cut short, the
// others have none.
#pragma once

#include <string>

namespace tallyfs {

inline constexpr char kHeaderPage[] =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

inline constexpr char kBlockRqIssue[] = R"(name: block_rq_issue
ID: 2104
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:dev_t dev;	offset:8;	size:4;	signed:0;
	field:sector_t sector;	offset:16;	size:8;	signed:0;
	field:unsigned int nr_sector;	offset:24;	size:4;	signed:0;
	field:unsigned int bytes;	offset:28;	size:4;	signed:0;
	field:unsigned short ioprio;	offset:32;	size:2;	signed:0;
	field:char rwbs[10];	offset:34;	size:10;	signed:0;
	field:char comm[16];	offset:44;	size:16;	signed:0;
	field:__data_loc char[] cmd;	offset:60;	size:4;	signed:0;

print fmt: "%d,%d %s", ((unsigned int) ((REC->dev) >> 20)), REC->comm
)";

inline constexpr char kBlockRqRequeue[] = R"(name: block_rq_requeue
ID: 2108
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:dev_t dev;	offset:8;	size:4;	signed:0;
	field:sector_t sector;	offset:16;	size:8;	signed:0;
	field:unsigned int nr_sector;	offset:24;	size:4;	signed:0;
	field:unsigned short ioprio;	offset:28;	size:2;	signed:0;
	field:char rwbs[10];	offset:30;	size:10;	signed:0;
	field:__data_loc char[] cmd;	offset:40;	size:4;	signed:0;

print fmt: "%d,%d %s", ((unsigned int) ((REC->dev) >> 20)), REC->rwbs
)";

inline constexpr char kBlockRqComplete[] = R"(name: block_rq_complete
ID: 2107
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:dev_t dev;	offset:8;	size:4;	signed:0;
	field:sector_t sector;	offset:16;	size:8;	signed:0;
	field:unsigned int nr_sector;	offset:24;	size:4;	signed:0;
	field:int error;	offset:28;	size:4;	signed:1;
	field:unsigned short ioprio;	offset:32;	size:2;	signed:0;
	field:char rwbs[10];	offset:34;	size:10;	signed:0;
	field:__data_loc char[] cmd;	offset:44;	size:4;	signed:0;

print fmt: "%d,%d %s", ((unsigned int) ((REC->dev) >> 20)), REC->rwbs
)";

inline constexpr char kSchedWakeup[] = R"(name: sched_wakeup
ID: 374
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t pid;	offset:24;	size:4;	signed:1;
	field:int prio;	offset:28;	size:4;	signed:1;
	field:int target_cpu;	offset:32;	size:4;	signed:1;
)";

inline constexpr char kSchedSwitch[] = R"(name: sched_switch
ID: 372
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
	field:int prev_prio;	offset:28;	size:4;	signed:1;
	field:long prev_state;	offset:32;	size:8;	signed:1;
	field:char next_comm[16];	offset:40;	size:16;	signed:0;
	field:pid_t next_pid;	offset:56;	size:4;	signed:1;
	field:int next_prio;	offset:60;	size:4;	signed:1;
)";

inline constexpr char kSysExit[] = R"(name: sys_exit
ID: 442
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:long id;	offset:8;	size:8;	signed:1;
	field:long ret;	offset:16;	size:8;	signed:1;
)";

inline constexpr char kSchedMigrateTask[] = R"(name: sched_migrate_task
ID: 371
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:__data_loc char[] comm;	offset:8;	size:4;	signed:0;
	field:pid_t pid;	offset:12;	size:4;	signed:1;
	field:int prio;	offset:16;	size:4;	signed:1;
	field:int orig_cpu;	offset:20;	size:4;	signed:1;
	field:int dest_cpu;	offset:24;	size:4;	signed:1;
)";

inline constexpr char kHrtimerStart[] = R"(name: hrtimer_start
ID: 460
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:void * hrtimer;	offset:8;	size:8;	signed:0;
	field:void * function;	offset:16;	size:8;	signed:0;
	field:s64 expires;	offset:24;	size:8;	signed:1;
	field:s64 softexpires;	offset:32;	size:8;	signed:1;
	field:enum hrtimer_mode mode;	offset:40;	size:4;	signed:0;
	field:bool was_armed;	offset:44;	size:1;	signed:0;
)";

inline constexpr char kHrtimerExpireEntry[] = R"(name: hrtimer_expire_entry
ID: 459
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:void * hrtimer;	offset:8;	size:8;	signed:0;
	field:s64 now;	offset:16;	size:8;	signed:1;
	field:void * function;	offset:24;	size:8;	signed:0;
)";

inline constexpr char kHrtimerCancel[] = R"(name: hrtimer_cancel
ID: 457
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:void * hrtimer;	offset:8;	size:8;	signed:0;
)";

// A text without the line that has a part.
inline std::string without(std::string text, const std::string& line_part) {
  const std::size_t at = text.find(line_part);
  const std::size_t start = text.rfind('\n', at) + 1;
  return text.erase(start, text.find('\n', at) + 1 - start);
}

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

}  // namespace tallyfs
