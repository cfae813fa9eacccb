// Triggers: lines are commands for one of three events, by their first character (1, 2, or s for
// the synthetic one; y for synthetic_events); what follows an empty line are records. What is
// refused changes nothing, what is shown can be given back to remove it, and in the end all can go.
#include <string>
#include <vector>

#include "core/tracing/set/event_set.h"
#include "tests/fuzz/event_fixture.h"
#include "tests/fuzz/fuzzed.h"

namespace tallyfs::fuzz {
namespace {

class Driver {
 public:
  Driver() {
    events_.push_back(set_.events.define_event("sys", kAllKinds).value());
    events_.push_back(set_.events.define_event("sys", kSecond).value());
    must(set_.synthetic.write("syn u64 x; s32 y; char t[16]; char[] d; long[] s").has_value(),
         "the synthetic event is good");
    events_.push_back(set_.events.find("synthetic", "syn").value());
  }

  void command(std::string_view line) {
    if (line.empty()) return;
    if (line[0] == 'y') return (void)set_.synthetic.write(line.substr(1));
    const EventNumber event = events_[line[0] == '1' ? 0 : line[0] == '2' ? 1 : 2];
    const std::string before = all_triggers();
    const auto written = set_.commands.write(event, line.substr(1));
    if (written) return;
    must(!written.error().reason.empty(), "a reason");
    // The kernel's carets in filters stand one or two behind their place.
    must(written.error().token_at <= written.error().text.size() + 2, "a place in the command");
    must(all_triggers() == before, "what is refused changes nothing");
  }

  void records(Input& input) {
    std::uint64_t time_ns = 0;
    const std::uint64_t stack[] = {1, 2, 3};
    while (!input.empty()) {
      const EventNumber event = events_[input.byte() % 2];
      time_ns += input.byte() * 1000u;
      std::string bytes(input.text(input.byte() % 128));
      if (bytes.size() < kAllKindsBytes) bytes.resize(kAllKindsBytes);
      set_.feed({.event = event,
                 .time_ns = time_ns,
                 .cpu = 1,
                 .pid = 7,
                 .bytes = bytes,
                 .comm = "comm",
                 .stack = stack});
    }
  }

  void look() {
    for (const EventNumber event : events_) {
      const tracing::HistCopy copy = set_.hists.copy(event);
      (void)copy.render(NoSymbols());
      (void)copy.render_json(NoSymbols(), {});
      (void)set_.switches.state(event).text();
    }
    (void)set_.trace.copy().render(NoSymbols());
    (void)set_.demands.take_changed();
  }

  void remove_as_shown() {
    for (const EventNumber event : events_) {
      const std::string lines = tracing::triggers_text(set_.triggers.lines(event));
      each_line(lines, [&](std::string_view line) {
        if (!line.starts_with("hist:keys=")) return;
        std::string removal = "!";
        removal.append(line.substr(0, line.rfind(" [")));
        const auto removed = set_.commands.write(event, removal);
        const bool refers = line.find('$') != line.npos;
        must(removed || removed.error().code == ErrorCode::kBusy || refers,
             "what is shown is understood");
      });
    }
  }

  void end() {
    for (std::size_t i = 0; i < 64; ++i) {
      for (const EventNumber event : events_) set_.triggers.truncate(event);
    }
    for (const EventNumber event : events_) {
      must(tracing::triggers_text(set_.triggers.lines(event)).starts_with('#'), "all can go");
    }
    must(set_.synthetic.truncate().has_value(), "nothing is in use any more");
  }

 private:
  std::string all_triggers() const {
    std::string text;
    for (const EventNumber event : events_)
      text += tracing::triggers_text(set_.triggers.lines(event));
    return text;
  }

  tracing::EventSet set_;
  std::vector<EventNumber> events_;
};

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  tallyfs::fuzz::Input input(bytes, size);
  tallyfs::fuzz::Driver driver;
  for (int i = 0; i < 16 && !input.empty(); ++i) {
    const std::string line(input.until('\n'));
    if (line.empty()) break;
    driver.command(line);
  }
  driver.records(input);
  driver.look();
  driver.remove_as_shown();
  driver.end();
  return 0;
}
