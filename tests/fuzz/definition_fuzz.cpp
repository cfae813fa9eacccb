// The definition grammar: any line either takes effect or changes nothing, what is read can be
// written back, and what is saved comes back.
//
// The input is lines. `+NAME LINE` is what a feeder creates, `=X Y` a sample for all, `~N` lets N
// milliseconds pass; anything else is written to the definition file.
#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/statistics/interface/interface.h"
#include "tests/fuzz/fuzzed.h"
#include "tests/unit/fake_clock.h"

namespace tallyfs::fuzz {
namespace {

constexpr std::size_t kTextBytes = 64u << 20;
constexpr std::size_t kLines = 64;

class Fixture {
 public:
  void take(std::string_view line) {
    const char what = line.empty() ? '\0' : line.front();
    if (what == '+') return create(line.substr(1));
    if (what == '=') return add(line.substr(1));
    if (what == '~') return clock_.advance(std::chrono::milliseconds(count(line.substr(1))));
    define(line);
  }
  void check_end() {
    // What was kept for undo=1 is gone, and counts no more.
    clock_.advance(statistics::DiscardedData::kKeptFor);
    (void)data();
    const std::string before = definition();
    each_line(before, [&](std::string_view line) {
      must(interface_->define(line, clock_.now()).has_value(), "what is read can be written back");
    });
    must(definition() == before, "what was read changes nothing");
    check_saved();
    interface_.reset();
    const Holdings left = ledger_.total();
    must(left.interfaces == 0 && left.statistics == 0 && left.bytes == 0, "the ledger is cleared");
  }

 private:
  static unsigned count(std::string_view text) {
    unsigned value = 0;
    std::from_chars(text.data(), text.data() + std::min<std::size_t>(text.size(), 9), value);
    return value;
  }
  void create(std::string_view line) {
    const std::string name(line.substr(0, line.find(' ')));
    const std::string text(line.substr(std::min(line.size(), name.size() + 1)));
    const auto made = interface_->create_statistic(name, text, clock_.now());
    if (!made) return check(made.error(), text);
    must(is_name(name), "only names come in");
  }
  void add(std::string_view line) {
    Tokens tokens(line);
    const auto x = tokens.next();
    const auto y = tokens.next();
    const Sample sample{.x = x ? parse_signed(x->text).value_or(0) : 0,
                        .y = y ? parse_unsigned(y->text).value_or(1) : 1,
                        .time = clock_.now().monotonic};
    std::vector<statistics::Run> runs;
    for (statistics::Statistic* statistic : interface_->statistics())
      runs.push_back({statistic, {&sample, 1}});
    interface_->add(runs, clock_.now());
  }
  void define(std::string_view text) {
    const std::string line(text);  // apart, so that reading beyond its end is seen
    const std::string before = definition(), data_before = data();
    const auto done = interface_->define(line, clock_.now());
    if (!done) {
      check(done.error(), line);
      must(definition() == before && data() == data_before, "what is refused changes nothing");
      return;
    }
    const std::string after = definition(), data_after = data();
    if (std::ranges::count(after, '\n') < std::ranges::count(before, '\n')) return;  // a view went
    const auto change = statistics::parse_change(line);
    if (change && change.value().undo) return;  // there is one step
    must(interface_->define(line, clock_.now()).has_value(), "a line can be written twice");
    must(definition() == after && data() == data_after, "written twice it says the same");
  }
  static void check(const Error& error, std::string_view line) {
    must(!error.reason.empty() && error.reason.find('\n') == std::string::npos,
         "a reason is a line");
    must(error.token_at == Error::kNoToken || error.token_at <= line.size(), "the caret is inside");
  }
  void check_saved() {
    std::string bytes;
    ByteWriter out(bytes);
    CellBudget budget;
    interface_->save(out, budget);
    ByteReader in(bytes);
    const std::uint64_t held = ledger_.total().bytes;
    const auto loaded = statistics::Interface::load(in, ledger_);
    if (!loaded) return must(loaded.error().code == ErrorCode::kNoSpace, "what is saved loads");
    must(in.left() == 0, "all of it");
    must(ledger_.total().bytes == 2 * held, "what was redefined holds as much as what is made so");
    must(loaded.value()->render_definition(kTextBytes).value() == definition(), "as it was");
    must(loaded.value()->render_data(clock_.now(), kTextBytes).value() == data(), "with its data");
  }
  std::string definition() const { return interface_->render_definition(kTextBytes).value(); }
  std::string data() const { return interface_->render_data(clock_.now(), kTextBytes).value(); }

  FakeClock clock_{std::chrono::seconds(10)};
  // Small, so that it is reached.
  Ledger ledger_{{.per_uid = {.interfaces = 2, .statistics = 12, .bytes = 1u << 20}}};
  std::unique_ptr<statistics::Interface> interface_ =
      statistics::Interface::create(ledger_, 1000, clock_.now()).value();
};

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  tallyfs::fuzz::Input input(bytes, size);
  tallyfs::fuzz::Fixture fixture;
  for (std::size_t lines = 0; !input.empty() && lines < tallyfs::fuzz::kLines; ++lines) {
    fixture.take(input.until('\n'));
  }
  fixture.check_end();
  return 0;
}
