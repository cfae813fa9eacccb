// The text form of core/wire/FORMAT.md, carried out on a whole statistics branch.
//
// The input is datagrams, divided by 0x1E and a byte: its bits 0 and 1 say whose the next one is,
// 2 and 3 which process sends it, 4 whether it is taken in turns, 5 that the process ends after
// it; 6 lets a second pass.
#include "core/base/labels.h"
#include "tests/fuzz/intake_fixture.h"

namespace {

// A stored name is stored as it is, and the name that people are shown means it.
void check_names(std::string_view datagram) {
  using namespace tallyfs;
  const std::string typed(datagram.substr(0, datagram.find('\n')));
  const auto name = stored_name(typed);
  if (!name) return fuzz::must(name.error().token_at <= typed.size(), "the caret is inside");
  const auto again = stored_name(name.value());
  fuzz::must(again && again.value() == name.value(), "a stored name is stored as it is");
  if (typed.find('{') == typed.npos) return;
  const auto shown = stored_name(shown_labels(name.value()));
  fuzz::must(shown && shown.value() == name.value(), "a shown name means the stored one");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tallyfs::fuzz;
  static const Line line;
  constexpr uid_t kUids[] = {1000, 1001, 0, kDaemonUid};
  static std::unique_ptr<IntakeFixture> kept;
  IntakeFixture& fixture = IntakeFixture::next(kept, line);
  Input input(bytes, size);
  for (unsigned how = 0; !input.empty(); how = input.byte()) {
    const auto pid = static_cast<pid_t>(1 + (how >> 2 & 3));
    const std::string_view datagram = input.until('\x1e');
    check_names(datagram);
    Steps::add(1 + static_cast<std::size_t>(std::ranges::count(datagram, '\n')));
    fixture.take(datagram, kUids[how & 3], pid,
                 how & 16 ? IntakeFixture::Pace::kInTurns : IntakeFixture::Pace::kAtOnce);
    if (how & 32) fixture.end_process(pid);
    if (how & 64) fixture.clock.advance(std::chrono::seconds(1));
  }
  fixture.check_end();
  return 0;
}
