// What a server leaves for the next one in a reload, but not as it was written: the next one takes
// each object or says that it does not, and serves. What it has taken, it leaves again as it is.
// Beside them a program has a lane, with samples in its ring of which each is taken once.
// The input is lines for the first server, up to a byte 0x1E, and then the damage.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/branch/state.h"
#include "core/lane/layout.h"
#include "core/statistics/branch/statistics_branch.h"
#include "core/stats3/branch/stats_branch.h"
#include "core/tracing/branch/tracing_branch.h"
#include "core/wire/line.h"
#include "feeders/intake/lanes.h"
#include "fs/open_file_saved.h"
#include "fs/operations.h"
#include "program/log.h"
#include "tests/fuzz/fuzzed.h"
#include "tests/fuzz/intake_fixture.h"
#include "tests/fuzz/show_all.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/fake_processes.h"
#include "tests/unit/held_descriptors.h"
#include "tests/unit/intake/mapped_lane.h"

namespace tallyfs::fuzz {
namespace {

constexpr std::size_t kStatistics = 256, kObjects = 8, kEvents = 8;
constexpr std::size_t kOpenFiles = 12;
constexpr SavedKinds kOfMount =
    saved_kinds(SavedKind::kNodes, SavedKind::kHandles, SavedKind::kOpenFile);

struct Object {
  std::uint16_t kind = 0;
  std::uint16_t format = 0;
  std::string label;
  std::string bytes;

  SavedObject saved() const { return {kind, format, label, bytes}; }
  bool operator==(const Object&) const = default;
};

class Left final : public ObjectSink {
 public:
  bool put(const SavedObject& object) override {
    must(object.label.size() <= kLabelBytesMax, "what is left can be saved");
    objects.push_back(
        {object.kind, object.format, std::string(object.label), std::string(object.bytes)});
    return true;
  }

  // What the next server gets.
  TransferredFds::Received received() const { return held.received(); }

  std::vector<Object> objects;
  HeldDescriptors held;
};

// A program that has put samples into a ring, and puts more.
class FedLane {
 public:
  static constexpr std::uint32_t kId = 3, kRingAt = kLaneHeapAt;

  explicit FedLane(int fd) {
    void* const mapped = map_lane(fd, kLaneBytesMin);
    must(mapped != MAP_FAILED, "memory");
    memory_ = static_cast<std::byte*>(mapped);
    entry().thread = 1;
    entry().ring = std::uint64_t{kRingBytesMin} << 32 | kRingAt;
    reinterpret_cast<LaneHeader*>(memory_)->changes += 1;
  }
  ~FedLane() { ::munmap(memory_, kLaneBytesMin); }
  FedLane(const FedLane&) = delete;
  FedLane& operator=(const FedLane&) = delete;

  void put(std::uint64_t x) {
    auto* const words = reinterpret_cast<std::atomic<std::uint64_t>*>(memory_ + kRingAt);
    words[head_++] = record_head(kId, 2, 0);
    words[head_++] = x;
    entry().head = head_;
  }

 private:
  LaneEntry& entry() { return *reinterpret_cast<LaneEntry*>(memory_ + kLaneEntriesAt); }

  std::byte* memory_ = nullptr;
  std::uint64_t head_ = 0;
};

// What feeders have mapped, which outlives the servers.
struct MappedPages {
  std::vector<Switch> switches = std::vector<Switch>(kStatistics + kObjects + kEvents);
  std::vector<Shape> shapes = std::vector<Shape>(kStatistics);
};

class NothingWaits final : public Barrier {
 public:
  explicit NothingWaits(const Clock& clock) : clock_(clock) {}
  using Barrier::drain_feeders;
  Timestamp drain_feeders(Subject, const std::function<void()>&) override { return clock_.now(); }

 private:
  const Clock& clock_;
};

// The parts of a daemon that leave something to the next one alone, in the order in which it makes
// them. fuzz_state has what files have, too, and latencies.
class Server {
 public:
  Server(MappedPages& pages, const Left& before)
      : pages_(pages),
        descriptors_(nullptr, before.received()),
        has_nodes_(expect(before)),
        errors_(std::make_shared<ErrorLog>(now())) {
    loaded = take_state(file_of(before), {branches_, parts_, descriptors_},
                        {.now = now(), .has_pages = true});
    if (!has_nodes_) return;
    std::vector<SavedObject> files;
    for (const Object& each : before.objects) {
      if (is_of(each.saved(), SavedKind::kOpenFile)) files.push_back(each.saved());
    }
    const auto opened =
        operations_.open_files().load(find(before, SavedKind::kHandles)->saved(), files);
    must(opened.has_value(), "what can be loaded is loaded");
    for (const std::string& each : opened.value()) loaded.faults.push_back(each);
    operations_.open_files().hold_returned();
  }

  void take(std::string_view lines) {
    static const Line line;
    Dispatcher dispatcher(
        line.daemon(),
        {.statistics = statistics_, .branches = branches_, .errors = *errors_, .clock = clock_});
    std::vector<char> room(lines.begin(), lines.end());
    const Datagram datagram{.bytes = room, .origin = line.origin(1000, 7)};
    dispatcher.begin(datagram, now());
    while (!dispatcher.resume({now().monotonic + std::chrono::hours(1)})) {
    }
    dispatcher.publish_counts(now());
  }

  Left leave() {
    Left left;
    std::string bytes;
    ByteWriter out(bytes);
    tree_.save(out);
    left.put(saved_object(SavedKind::kNodes, transfer_format(SavedKind::kNodes), "nodes", bytes));
    operations_.open_files().save(left);
    for (Branch* const branch : branches_) branch->save_for_successor(left, now());
    tracing_.tracing().save_records(left);
    TransferredFds sent(&left.held);
    lanes_.save_for_successor(left, sent);
    return left;
  }

  // Where there is room for one.
  std::unique_ptr<FedLane> make_lane() {
    const Sender sender{1000, 7};
    const auto line = wire::parse_line("create lane/s on=1 type=list entries_max=4");
    const auto of = statistics_.execute(std::get<wire::CommandLine>(line.value()), sender, now());
    const auto made = lanes_.make(sender, kLaneBytesMin, now());
    if (!of || !made) return nullptr;
    const auto lane = made.value().number;
    auto fed = std::make_unique<FedLane>(made.value().file->fd());
    must(lanes_.tails(sender, lane).has_value(), "there are tails");
    (void)lanes_.bind(
        sender, {.sequence = 1, .id = FedLane::kId, .lane = lane, .number = of.value().number});
    return fed;
  }
  std::uint64_t take_from_rings() {
    lanes_.note_heads();
    return lanes_.take(now().monotonic + std::chrono::hours(1)).records;
  }

  // As if programs had the first files of the tree open, of which some have begun a line.
  void open_files(Left& left) {
    Handles handles({});
    std::vector<std::pair<std::uint64_t, std::shared_ptr<OpenFile>>> opened;
    open_files(Tree::kRoot, handles, opened);
    std::string bytes;
    ByteWriter out(bytes);
    handles.save(out);
    std::erase_if(left.objects,
                  [](const Object& each) { return is_of(each.saved(), SavedKind::kHandles); });
    left.put(saved_object(SavedKind::kHandles, 1, "handles", bytes));
    for (const auto& [number, open] : opened) {
      bytes.clear();
      save_open_file(number, *open, now(), out);
      left.put(saved_object(SavedKind::kOpenFile, 2, std::to_string(number), bytes));
    }
  }

  void show() { show_all(tree_, Tree::kRoot, now()); }
  void end_expecting() { tree_.end_expecting(now()); }

  LoadedState loaded;

 private:
  Timestamp now() const { return clock_.now(); }

  static const Object* find(const Left& before, SavedKind kind) {
    for (const Object& each : before.objects) {
      if (is_of(each.saved(), kind)) return &each;
    }
    return nullptr;
  }
  bool expect(const Left& before) {
    const Object* const nodes = find(before, SavedKind::kNodes);
    const Object* const handles = find(before, SavedKind::kHandles);
    if (!nodes || !handles || !OpenFiles::can_load(handles->saved())) return false;
    return nodes->format == transfer_format(SavedKind::kNodes) &&
           tree_.expect(nodes->bytes).has_value();
  }
  static StateFile file_of(const Left& before) {
    StateFile file;
    for (const Object& each : before.objects) {
      if ((kOfMount & kind_bit(each.kind)) == 0) file.objects.push_back(each.saved());
    }
    return file;
  }

  void open_files(NodeId directory, Handles& handles,
                  std::vector<std::pair<std::uint64_t, std::shared_ptr<OpenFile>>>& opened) {
    if (const auto rules = tree_.rules(directory)) rules.value()->entered(now());
    const auto entries = tree_.list(directory, 0, 1000);
    for (const NodeEntry& entry : entries.value()) {
      if (opened.size() >= kOpenFiles) return;
      if (entry.info.kind == NodeKind::kDirectory) {
        open_files(entry.info.id, handles, opened);
        continue;
      }
      auto open = std::make_shared<OpenFile>();
      open->node = entry.info;
      open->file = HandleFile(tree_.file(entry.info.id).value());
      open->uid = 1000;
      open->readable = opened.size() % 3 != 0;
      open->text = "as it was\n";
      open->location = tree_.path(directory);
      if (opened.size() % 2 != 0) {
        const MutexLock lock(open->writing);
        const LineSink sink{.apply = [](std::string_view) { return Result<void>(); },
                            .report = [](std::string_view, const Error&) {}};
        (void)open->transaction.write("begun", {.append = true}, sink);
        open->begun = "a command\\\n";
      }
      opened.emplace_back(handles.add(open).value(), open);
    }
  }

  BranchDependencies dependencies(std::size_t first, std::size_t count) {
    return {.switches = {std::span(pages_.switches).subspan(first, count),
                         static_cast<std::uint32_t>(first)},
            .processes = &processes_,
            .errors = errors_.get()};
  }
  BranchDependencies fed() {
    BranchDependencies all = dependencies(0, kStatistics);
    all.shapes = pages_.shapes;
    return all;
  }
  tracing::TracingBranch::Options tracing_options() {
    tracing::TracingBranch::Options options;
    options.tracing.owner = kDaemonUid;
    options.tracing.clock = &clock_;
    options.tracing.error_log = errors_;
    options.tracing.set = {.events_max = 64, .triggers_max = 16, .hist_bytes_max = 8u << 20};
    options.dependencies = dependencies(kStatistics + kObjects, kEvents);
    return options;
  }

  MappedPages& pages_;
  const FakeClock clock_{std::chrono::seconds(10)};
  Ledger ledger_{{.per_uid = {.interfaces = 16, .statistics = 200, .bytes = 64u << 20},
                  .total = {.interfaces = 32, .statistics = kStatistics, .bytes = 64u << 20}}};
  FakeProcesses processes_;
  TransferredFds descriptors_;
  Tree tree_{clock_.now()};
  const bool has_nodes_;
  std::shared_ptr<ErrorLog> errors_;  // shared with the tree
  statistics::StatisticsBranch statistics_{tree_, ledger_, kDaemonUid, clock_.now(), fed()};
  stats3::StatsBranch stats_{tree_, ledger_, kDaemonUid, clock_.now(),
                             dependencies(kStatistics, kObjects)};
  const NodeId tracing_node_ =
      tree_.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(), clock_.now());
  tracing::TracingBranch tracing_{tree_, tracing_node_, ledger_, tracing_options(), clock_.now()};
  const std::array<Branch*, 3> branches_{&statistics_, &stats_, &tracing_};
  Lanes lanes_{Lanes::Dependencies{statistics_, ledger_, processes_, *errors_, clock_}, kDaemonUid};
  const std::array<TransferredPart*, 1> parts_{&lanes_};
  NothingWaits barrier_{clock_};
  Operations operations_{{tree_, *errors_, statistics_.counters(), barrier_, clock_}, {}, {}};
};

void damage(Input& input, Left& left) {
  for (unsigned steps = 0; !input.empty() && !left.objects.empty() && steps < 16; ++steps) {
    const unsigned how = input.byte() % 8;
    const std::size_t which = input.byte() % left.objects.size();
    Object& object = left.objects[which];
    const std::size_t at = object.bytes.empty() ? 0 : input.number(2) % object.bytes.size();
    if (how < 4 && !object.bytes.empty()) {
      object.bytes[at] = static_cast<char>(object.bytes[at] ^ input.byte());
    } else if (how == 4) {
      object.bytes.resize(at);
    } else if (how == 5) {
      object.bytes.insert(at, input.text(input.byte() % 16));
    } else if (how == 6) {
      left.objects.push_back(Object(object));
    } else {
      left.objects.erase(left.objects.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
}

void must_be_whole(const LoadedState& loaded, const char* what) {
  for (const std::string& fault : loaded.faults) std::fprintf(stderr, "%s\n", fault.c_str());
  must(loaded.faults.empty(), what);
}

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  tallyfs::set_log_level("off");  // of faults in lanes
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tallyfs::fuzz;
  Input input(bytes, size);
  MappedPages pages;
  Left left;
  std::unique_ptr<FedLane> lane;
  {
    Server first(pages, {});
    first.take(input.until('\x1e'));
    lane = first.make_lane();
    if (lane) lane->put(1);
    must(first.take_from_rings() == (lane ? 1 : 0), "what a ring holds is taken");
    if (lane) lane->put(2);
    left = first.leave();
    first.open_files(left);
  }
  const bool is_damaged = !input.empty();
  damage(input, left);
  Left again;
  {
    Server second(pages, left);
    if (!is_damaged) must_be_whole(second.loaded, "what was left is taken");
    if (lane) lane->put(3);
    const std::uint64_t taken = second.take_from_rings();
    must(is_damaged || taken == (lane ? 2 : 0), "what was left in a ring is taken once");
    second.show();
    second.end_expecting();
    again = second.leave();
  }
  Server third(pages, again);
  must_be_whole(third.loaded, "what was taken is taken again");
  must(is_damaged || third.take_from_rings() == 0, "and so is what was in a ring");
  return 0;
}
