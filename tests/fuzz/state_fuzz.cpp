// A state file that is not what was written: whatever is read of it was written so, and the
// branches take it or leave it. The input is the objects of a file and the damage done to it, or,
// if it begins with an even byte, the file itself.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/branch/state.h"
#include "core/latency_hist/branch/latency_branch.h"
#include "core/statistics/branch/statistics_branch.h"
#include "core/stats3/branch/stats_branch.h"
#include "core/tracing/branch/tracing_branch.h"
#include "tests/fuzz/fuzzed.h"
#include "tests/fuzz/show_all.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/saved_objects.h"

namespace tallyfs::fuzz {
namespace {

constexpr BootId kBoot = {1, 2, 3};

// The kinds that there are, and some that there are not.
SavedObjects draw_objects(Input& input) {
  SavedObjects objects;
  for (unsigned left = input.byte() % 8; left != 0; --left) {
    SavedObject object;
    object.kind = static_cast<std::uint16_t>(1 + input.byte() % 17);
    object.format = static_cast<std::uint16_t>(1 + input.byte() % 2);
    object.label = input.until('\0');
    object.label = object.label.substr(0, kLabelBytesMax);
    object.bytes = input.text(input.number(2));
    (void)objects.put(object);
  }
  return objects;
}

std::string file_of(const SavedObjects& objects) {
  std::string bytes;
  StateWriter writer({.boot = kBoot, .saved = {}}, bytes);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    writer.begin_object(objects.at(i));
    bytes.append(objects.at(i).bytes);
  }
  writer.end();
  return bytes;
}

void damage(Input& input, std::string& file) {
  for (unsigned left = input.byte() % 4; left != 0; --left) {
    char& byte = file[input.number(3) % file.size()];
    byte = static_cast<char>(byte ^ input.byte());
  }
  if (input.byte() % 4 == 0) file.resize(input.number(3) % (file.size() + 1));
}

bool is_same_object(const SavedObject& a, const SavedObject& b) {
  return a.kind == b.kind && a.format == b.format && a.label == b.label && a.bytes == b.bytes;
}

class Sizes final : public ObjectSink {
 public:
  bool put(const SavedObject& object) override {
    must(object.label.size() <= kLabelBytesMax, "what was loaded can be saved");
    return true;
  }
};

void load(const StateFile& file) {
  const FakeClock clock{std::chrono::seconds(10)};
  // What the tree keeps of files is of the ledger.
  Ledger ledger{{.per_uid = {.interfaces = 16, .statistics = 64, .bytes = 64u << 20},
                 .total = {.interfaces = 32, .statistics = 128, .bytes = 64u << 20}}};
  Tree tree{clock.now()};
  statistics::StatisticsBranch statistics(tree, ledger, 500, clock.now());
  stats3::StatsBranch stats(tree, ledger, 500, clock.now());
  const NodeId tracing =
      tree.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(), clock.now());
  latency_hist::LatencyBranch latencies(tree, tracing, ledger, {.cpus = 2, .owner = 500},
                                        clock.now());
  tracing::TracingBranch::Options options;
  options.tracing.owner = 500;
  options.tracing.clock = &clock;
  options.tracing.error_log = std::make_shared<ErrorLog>(clock.now());
  options.tracing.set = {.events_max = 64, .triggers_max = 16, .hist_bytes_max = 8u << 20};
  tracing::TracingBranch traced(tree, tracing, ledger, options, clock.now());
  Branch* const branches[] = {&statistics, &stats, &latencies, &traced};
  const LoadedState loaded = load_state(file, branches, kBoot, clock.now());
  must(loaded.objects + loaded.faults.size() == file.objects.size() + file.faults.size(),
       "each object is loaded or told");
  if (loaded.objects == 0) return;
  Sizes sizes;
  for (const Branch* const branch : branches) branch->save(sizes);
  // What was loaded is shown, whatever it is.
  show_all(tree, Tree::kRoot, clock.now());
}

void read(const std::string& bytes, const SavedObjects* written) {
  const auto file = read_state(bytes);
  if (!file) return;
  std::size_t next = 0;
  for (const SavedObject& object : file.value().objects) {
    if (!written) break;
    while (next < written->size() && !is_same_object(written->at(next), object)) ++next;
    must(next++ < written->size(), "what is read was written, in this order");
  }
  load(file.value());
}

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tallyfs::fuzz;
  Input input(bytes, size);
  if (input.byte() % 2 == 0) {
    read(std::string(input.rest()), nullptr);
    return 0;
  }
  const tallyfs::SavedObjects objects = draw_objects(input);
  std::string file = file_of(objects);
  damage(input, file);
  read(file, &objects);
  return 0;
}
