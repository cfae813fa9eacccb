#include "core/latency_hist/engine/record.h"

#include <algorithm>

#include "core/base/text.h"

namespace tallyfs::latency_hist {
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

void append_record(std::string& out, const Record& record) {
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

namespace {

void save_task(ByteWriter& out, const Task& task) {
  out.put(task.pid);
  out.put(task.priority);
  out.put_text(task.command());
}

Task load_task(ByteReader& in) {
  Task task{.pid = in.get<std::int32_t>(), .priority = in.get<std::int32_t>()};
  const std::string_view command = in.get_text();
  if (command.size() > task.name.size()) {
    in.fail();
  } else {
    std::ranges::copy(command, task.name.begin());
  }
  return task;
}

}  // namespace

void save_record(ByteWriter& out, const Record& record) {
  out.put(std::int64_t{record.time.count()});
  out.put(std::uint32_t{record.cpu});
  out.put(std::int64_t{record.latency.count()});
  out.put(std::int64_t{record.timer_offset.count()});
  out.put(std::uint8_t{record.is_bound});
  save_task(out, record.victim);
  out.put(std::uint8_t{record.culprit.has_value()});
  if (record.culprit) save_task(out, *record.culprit);
}

Record load_record(ByteReader& in, Boot boot) {
  Record record;
  record.time = std::chrono::nanoseconds(in.get<std::int64_t>());
  if (boot == Boot::kOther) record.time = std::chrono::nanoseconds(0);
  record.cpu = in.get<std::uint32_t>();
  record.latency = std::chrono::nanoseconds(in.get<std::int64_t>());
  record.timer_offset = std::chrono::nanoseconds(in.get<std::int64_t>());
  record.is_bound = in.get_flag();
  record.victim = load_task(in);
  if (in.get_flag()) record.culprit = load_task(in);
  return record;
}

}  // namespace tallyfs::latency_hist
