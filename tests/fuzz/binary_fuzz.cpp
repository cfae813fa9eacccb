// The binary form of core/wire/FORMAT.md, carried out on a whole statistics branch.
//
// The input's first byte says, in its bits 0 and 1, whose the datagram is, in 2 whether it is
// taken in turns, in 3 whether it is a datagram as it stands; else a right header goes before it.
// The epoch of FORMAT.md's examples stands for the daemon's own, and two numbers there for those of
// two statistics: no number is given out twice, so that no other would be right in a second input.
#include <cstring>
#include <utility>

#include "core/wire/line.h"
#include "tests/fuzz/intake_fixture.h"

namespace {

constexpr std::uint64_t kGoldenEpoch = 0x1122334455667788;

std::string with_epoch(std::string datagram, std::uint64_t epoch) {
  constexpr std::size_t kAt = 8;
  std::uint64_t said = 0;
  if (datagram.size() < kAt + sizeof said) return datagram;
  std::memcpy(&said, datagram.data() + kAt, sizeof said);
  if (said == kGoldenEpoch) std::memcpy(datagram.data() + kAt, &epoch, sizeof epoch);
  return datagram;
}

std::uint64_t number_of(tallyfs::fuzz::IntakeFixture& fixture, const char* attach) {
  const auto line = tallyfs::wire::parse_line(attach);
  tallyfs::Call call{.sender = tallyfs::Sender(1000), .now = fixture.clock.now()};
  const auto done = fixture.statistics->execute(line.value(), call);
  tallyfs::fuzz::must(done.has_value(), "the statistic is there");
  return done.value().number;
}

void put_numbers(std::string& datagram, tallyfs::fuzz::IntakeFixture& fixture) {
  const std::pair<std::uint64_t, std::uint64_t> numbers[] = {
      {7, number_of(fixture, "attach web/hits")},
      {0x100000005, number_of(fixture, "attach web/sizes")}};
  std::uint64_t said = 0;
  for (std::size_t at = 0; at + sizeof said <= datagram.size(); at += sizeof said) {
    std::memcpy(&said, datagram.data() + at, sizeof said);
    for (const auto& [golden, real] : numbers) {
      if (said == golden) std::memcpy(datagram.data() + at, &real, sizeof real);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tallyfs::fuzz;
  static const Line line;
  constexpr uid_t kUids[] = {1000, 1001, 0, kDaemonUid};
  static std::unique_ptr<IntakeFixture> kept;
  IntakeFixture& fixture = IntakeFixture::next(kept, line, IntakeFixture::Offers::kKernelEvent);
  Input input(bytes, size);
  const unsigned how = input.byte();
  std::string datagram;
  if (!(how & 8)) datagram = tallyfs::wire::DatagramWriter(kGoldenEpoch).bytes();
  datagram += input.rest();
  const auto pace = how & 4 ? IntakeFixture::Pace::kInTurns : IntakeFixture::Pace::kAtOnce;
  fixture.take("web/hits 1\nweb/sizes 4096 3\ndb/a -1\n", 1000, 1, pace);
  put_numbers(datagram, fixture);
  fixture.take(with_epoch(datagram, fixture.dispatcher.epoch()), kUids[how & 3], 2, pace);
  fixture.check_end();
  return 0;
}
