// A file of the store of the past with any bytes changed, or cut: it is refused, or read in bounds,
// and what is damaged in it is a gap.
//
// The input is where the file is cut, four bytes, and then edits: where, three bytes, and the byte.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/fuzzed.h"
#include "tools/past/span_source.h"
#include "tools/past/store_writer.h"

namespace tallyfs::fuzz {
namespace {

constexpr std::uint64_t kSecondUs = 1'000'000;
constexpr std::uint64_t kBeginUs = 1'795'000'000 * kSecondUs;
constexpr std::uint64_t kSeconds = 150;
const char* const kShapes[] = {
    R"({"name":"n","type":"value","values":{}})",
    R"({"name":"r","type":"range","values":{}})",
    R"({"name":"q","type":"quantiles","precision":5,"values":{}})",
    R"({"name":"l","type":"list","entries_max":9,"values":{}})",
};

// A store of four statistics, which is damaged anew for each input.
class DamagedStore {
 public:
  DamagedStore() {
    std::string made = std::filesystem::temp_directory_path() / "past-store-XXXXXX";
    must(::mkdtemp(made.data()) != nullptr, "there is a directory for the store");
    folder_ = made;
    auto opened = past::StoreWriter::open(folder_ / "store", settings());
    must(!!opened, "a store is made");
    write(*opened.value());
    std::ifstream file(path(), std::ios::binary);
    whole_.assign(std::istreambuf_iterator<char>(file), {});
    must(!whole_.empty(), "the store has a file");
  }
  ~DamagedStore() { std::filesystem::remove_all(folder_); }
  DamagedStore(const DamagedStore&) = delete;
  DamagedStore& operator=(const DamagedStore&) = delete;

  void damage(Input& input) {
    std::string bytes = whole_;
    const std::uint64_t cut = input.number(4);
    if (cut % 4 == 0) bytes.resize(cut / 4 % (bytes.size() + 1));
    while (!input.empty()) {
      const std::uint64_t at = input.number(3);
      const auto byte = static_cast<char>(input.byte());
      if (!bytes.empty()) bytes[at % bytes.size()] = byte;
    }
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
    for (const char* const end : {"-wal", "-shm"}) std::filesystem::remove(path() + end);
  }
  std::string directory() const { return folder_ / "store"; }

 private:
  std::string path() const { return folder_ / "store" / "past.sqlite"; }

  static past::StoreWriter::Settings settings() {
    return {.tiers = past::parse_tiers(past::kDefaultTiers).value()};
  }
  static void write(past::StoreWriter& writer) {
    std::vector<std::uint64_t> ids;
    for (const char* const shape : kShapes) {
      ids.push_back(writer.series("web", std::string(1, shape[9]), shape));
    }
    for (std::uint64_t second = 0; second < kSeconds; ++second) {
      writer.go_to(kBeginUs + second * kSecondUs);
      for (std::size_t i = 0; i < ids.size(); ++i) {
        past::Point point{.known = 1, .samples = 2, .number = 2, .total = 9};
        if (i > 1) point.cells = {{3, 1}, {static_cast<std::int64_t>(40 + second % 7), 1}};
        writer.add(ids[i], point, {.is_list = i == 3, .precision = i == 2 ? 5U : 0U});
      }
    }
    writer.note({{kBeginUs, kBeginUs + kSecondUs}, "web", "n", past::kReset});
    must(!!writer.end(), "a store is written");
  }

  std::filesystem::path folder_;
  std::string whole_;
};

// All that tallyctl and tally-web read of a store.
void read(past::StoreReader store) {
  constexpr past::Span kAll{kBeginUs - kSecondUs, kBeginUs + (kSeconds + 9) * kSecondUs};
  (void)store.extent();
  const auto series = store.series();
  if (!series) return;
  past::StoreReader::Wanted wanted;
  for (const past::StoredSeries& each : series.value()) wanted[each.id] = 0;
  std::size_t points = 0;
  for (std::size_t tier = 0; tier < store.tiers().size(); ++tier) {
    (void)store.points({tier, kAll}, wanted, [&](std::uint64_t id, std::uint64_t, past::Point&&) {
      must(wanted.contains(id), "points are of what is wanted");
      ++points;
    });
  }
  must(points <= (std::size_t{1} << 22), "a small file has few points");
  auto source = past::SpanSource::open(std::move(store), kAll);
  if (!source) return;
  (void)source.value()->facts();
  (void)source.value()->tree();
  (void)source.value()->interface("web");
}

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tallyfs;
  static fuzz::DamagedStore store;
  fuzz::Input input(bytes, size);
  store.damage(input);
  auto opened = past::StoreReader::open(store.directory());
  if (opened) fuzz::read(std::move(opened).value());
  return 0;
}
