#include "core/latency/latency_record.h"

#include "core/base/text.h"

namespace tallyfs {
namespace {

void append_task(std::string& out, const Task& task) {
  append_number(out, std::int64_t{task.pid});
  out.push_back(' ');
  append_number(out, std::int64_t{Task::kShownMax} - task.priority);
  out.push_back(' ');
}

// A process chooses its command's text: a blank in it is harmless, a newline would not be. Escaped,
// each of its bytes takes four.
void append_command(std::string& out, const Task& task) {
  append_escaped(out, task.command(), 4 * task.name.size(), 0);
}

}  // namespace

void append_record(std::string& out, const LatencyRecord& record) {
  append_task(out, record.victim);
  append_number(out, record.latency_us());
  out.push_back(' ');
  if (!record.culprit) return append_command(out, record.victim);
  out.push_back('(');
  append_number(out, std::int64_t{record.timer_offset.count() / 1000});
  out.append(") ");
  append_command(out, record.victim);
  out.append(" <- ");
  append_task(out, *record.culprit);
  append_command(out, *record.culprit);
  out.push_back(' ');
  char stamp[kTimestampBytesMax];
  const std::string_view bracketed(
      stamp, static_cast<std::size_t>(write_timestamp(stamp, record.time) - stamp));
  out.append(bracketed.substr(1, bracketed.size() - 2));
}

}  // namespace tallyfs
