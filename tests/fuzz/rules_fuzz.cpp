// The file `rules`: a refused line changes nothing, a replacement takes effect whole or not at all,
// what is read can be written back, and no rule breaks the statistics that it is applied to.
//
// The input is lines. `+LINE` is a command on the socket, `<TEXT` the file of --rules, its lines
// divided by `;`, `>LINE` is written by an open that replaces all, `~LINE` by one that adds;
// anything else is a further line of the same open.
#include <algorithm>
#include <optional>
#include <string>

#include "core/statistics/branch/statistics_branch.h"
#include "core/tree/error_log.h"
#include "core/wire/line.h"
#include "tests/fuzz/fuzzed.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/senders.h"

namespace tallyfs::fuzz {
namespace {

constexpr std::size_t kTextBytes = 64u << 20;
constexpr std::size_t kLines = 64;

class Fixture {
 public:
  void take(std::string_view line) {
    const char what = line.empty() ? '\0' : line.front();
    if (what == '+') return execute(line.substr(1));
    if (what == '<') return read_file(line.substr(1));
    if (what != '>' && what != '~') return write(line);
    open(what == '>' ? Opening::kReplaces : Opening::kAdds);
    write(line.substr(1));
  }
  void check_end() {
    const std::string before = text();
    open(Opening::kReplaces);
    each_line(before, [&](std::string_view line) {
      must(file_->write_line(line, clock_.now()).has_value(), "what is read can be written back");
    });
    must(text() == before, "and says the same");
    must(statistics_.take_rules("/r", "", clock_.now()).rules == 0, "a file may be empty");
  }

 private:
  enum class Opening { kAdds, kReplaces };

  void open(Opening opening) {
    former_.reset();
    is_back_ = false;
    must(file_->hold(File::Access::kWrite, clock_.now()).has_value(), "it can be opened");
    if (opening == Opening::kAdds) return;
    former_ = text();
    must(file_->truncate(clock_.now()).has_value(), "it can be truncated");
  }
  void write(std::string_view text_of_line) {
    const std::string line(text_of_line);  // apart, so that reading beyond its end is seen
    const std::string before = text();
    const auto done = file_->write_line(line, clock_.now());
    if (!done) {
      check(done.error(), line);
      is_back_ = former_.has_value();
    }
    if (is_back_) return must(text() == *former_, "the former rules are back");
    must(done || text() == before, "what is refused changes nothing");
    must(text().size() <= statistics::Rules::kBytesBound, "the bytes are bounded");
    must(static_cast<std::size_t>(std::ranges::count(text(), '\n')) <=
             statistics::Rules::kRulesBound,
         "the rules are bounded");
  }
  void read_file(std::string_view given) {
    std::string lines(given);
    std::ranges::replace(lines, ';', '\n');
    former_.reset();
    is_back_ = false;
    const auto reading = statistics_.take_rules("/r", lines, clock_.now());
    must(reading.added <= reading.rules, "new rules are rules");
    for (const auto& line : reading.refused) check(line.error, line.text);
  }
  void execute(std::string_view text_of_line) {
    const std::string line(text_of_line);
    const auto parsed = wire::parse_line(line);
    if (!parsed) return;
    const auto* const command = std::get_if<wire::CommandLine>(&parsed.value());
    if (command) (void)statistics_.execute(*command, kAlice, clock_.now());
  }
  static void check(const Error& error, std::string_view line) {
    must(!error.reason.empty() && error.reason.find('\n') == std::string::npos,
         "a reason is a line");
    must(error.token_at == Error::kNoToken || error.token_at <= line.size(), "the caret is inside");
  }
  std::string text() const { return file_->render(clock_.now(), kTextBytes).value(); }

  FakeClock clock_{std::chrono::seconds(10)};
  ErrorLog errors_{clock_.now()};
  Tree tree_{clock_.now()};
  // Small, so that rules reach it; the daemon itself has 26 statistics.
  Ledger ledger_{{.per_uid = {.interfaces = 4, .statistics = 48, .bytes = 1u << 20}}};
  statistics::StatisticsBranch statistics_{tree_, ledger_, 500, clock_.now(), {.errors = &errors_}};
  std::shared_ptr<File> file_ =  // shared with the tree
      tree_.file(tree_.lookup(Tree::kRoot, "rules").value().id).value();
  std::optional<std::string> former_;  // the text that a replacement may bring back
  bool is_back_ = false;
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
