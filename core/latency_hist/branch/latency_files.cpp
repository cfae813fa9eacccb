#include "core/latency_hist/branch/latency_files.h"

#include "core/tree/text_file.h"

namespace tallyfs::latency_hist {
namespace {

constexpr Audience kReadable{0444};
constexpr Audience kWritable{0644};
// Reading clears it, so that only users with the right to clear may read.
constexpr Audience kConsumable{0600};

using Shared = std::shared_ptr<LockedLatencies>;

Error too_long() { return {ErrorCode::kNoSpace, "the text is too long for this uid to open"}; }

Result<std::string> bounded(std::string text, std::size_t bytes_max) {
  if (text.size() > bytes_max) return too_long();
  return text;
}

template <typename T, typename Get>
T get(const Shared& latencies, Get of) {
  T value{};
  latencies->with([&](Set& set) { value = of(set); });
  return value;
}

// The callbacks that all files share. The caller adds `render`.
TextFile::Parts parts_of(const Shared& latencies) {
  return {.last_change =
              [=](Timestamp) {
                return get<Timestamp>(latencies, [](Set& set) { return set.last_change(); });
              },
          .version = [=](Timestamp) -> std::optional<std::uint64_t> {
            return get<std::uint64_t>(latencies, [](Set& set) { return set.version(); });
          },
          .opened = [=](const CallContext& call) { latencies->opened(call); },
          .waits = latencies->waits()};
}

// A short text that is made under the lock.
template <typename Make>
TextFile::Parts text_parts(const Shared& latencies, Make make) {
  TextFile::Parts parts = parts_of(latencies);
  parts.render = [=](const CallContext& call, std::size_t bytes_max) {
    return bounded(get<std::string>(latencies, [&](Set& set) { return make(set, call.now); }),
                   bytes_max);
  };
  return parts;
}

// A text that is made of a snapshot, without the lock.
template <typename Make>
TextFile::Parts snapshot_parts(const Shared& latencies, Make make) {
  TextFile::Parts parts = parts_of(latencies);
  parts.render = [=](const CallContext&, std::size_t bytes_max) {
    const auto snapshot = get<Snapshot>(latencies, [](Set& set) { return set.snapshot(); });
    return bounded(make(snapshot), bytes_max);
  };
  return parts;
}

// There is no version: the text says when it was made.
TextFile::Parts json_parts(const Shared& latencies, const Names& names) {
  TextFile::Parts parts = parts_of(latencies);
  parts.render = [=](const CallContext& call, std::size_t bytes_max) {
    auto snapshot = get<Snapshot>(latencies, [](Set& set) { return set.snapshot(); });
    const auto switched = latencies->switched();
    snapshot.version += switched.changes;
    return bounded(
        snapshot.json(
            {.name = names.name, .epoch = names.epoch, .is_on = switched.is_on, .now = call.now}),
        bytes_max);
  };
  parts.version = {};
  return parts;
}

TextFile::Parts histogram_parts(const Shared& latencies, unsigned cpu) {
  TextFile::Parts parts = parts_of(latencies);
  parts.render = [=](const CallContext&, std::size_t bytes_max) -> Result<std::string> {
    if (bytes_max < Histogram::kTextBytesMin) return too_long();
    Histogram histogram;
    std::string note;
    latencies->with([&](Set& set) {
      histogram = set.histogram(cpu);
      note = shortfall_line(set.kind(), set.counts(cpu));
    });
    std::string text;
    histogram.append_to(text, note);
    return bounded(std::move(text), bytes_max);
  };
  return parts;
}

TextFile::Parts reset_parts(const Shared& latencies) {
  TextFile::Parts parts = text_parts(latencies, [](Set&, Timestamp) { return "0\n"; });
  parts.write_unit = File::WriteUnit::kWrite;
  parts.write_line = [=](std::string_view, const CallContext& call) -> Result<void> {
    latencies->with([&](Set& set) { set.reset(call.now); });
    return {};
  };
  return parts;
}

TextFile::Parts maxima_parts(const Shared& latencies) {
  TextFile::Parts parts =
      text_parts(latencies, [](Set& set, Timestamp now) { return set.maxima(now.monotonic); });
  parts.version = {};  // intervals end though nothing comes
  parts.write_line = [=](std::string_view line, const CallContext& call) {
    Result<void> done;
    latencies->with([&](Set& set) { done = set.define_maxima(line, call.now); });
    return done;
  };
  return parts;
}

// A text that may be too long for the reader is refused, and the latencies are not reset.
TextFile::Parts snapshot_reset_parts(const Shared& latencies) {
  TextFile::Parts parts =
      snapshot_parts(latencies, [](const Snapshot& snapshot) { return snapshot.everything(); });
  parts.take = [=](Timestamp now, std::size_t bytes_max) -> Result<std::string> {
    Snapshot snapshot;
    bool fits = true;
    latencies->with([&](Set& set) {
      snapshot = set.snapshot();
      fits = snapshot.everything_bytes_max() <= bytes_max;
      if (fits) set.reset(now);
    });
    if (!fits) return too_long();
    return snapshot.everything();
  };
  return parts;
}

}  // namespace

void enter_latency_files(Tree& tree, NodeId directory, const Names& names, const Shared& latencies,
                         MaxLatencyFiles files, Timestamp now) {
  const auto enter = [&](const std::string& file, Audience audience, TextFile::Parts parts) {
    tree.add_file(directory, file, audience, std::make_shared<TextFile>(std::move(parts)), now);
  };
  const auto cpus = get<unsigned>(latencies, [](Set& set) { return set.cpus(); });
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    const std::string cpu_name = "CPU" + std::to_string(cpu);
    enter(cpu_name, kReadable, histogram_parts(latencies, cpu));
    if (files == MaxLatencyFiles::kNone) continue;
    enter("max_latency-" + cpu_name, kReadable,
          text_parts(latencies, [=](Set& set, Timestamp) { return set.max_latency(cpu); }));
  }
  enter("reset", kWritable, reset_parts(latencies));
  enter("summary", kReadable,
        snapshot_parts(latencies, [](const Snapshot& all) { return all.summary(); }));
  enter("data", kReadable,
        snapshot_parts(latencies, [name = names.name](const auto& all) { return all.data(name); }));
  enter("data.json", kReadable, json_parts(latencies, names));
  enter("top", kReadable, text_parts(latencies, [](Set& set, Timestamp) { return set.top(); }));
  enter("maxima", kWritable, maxima_parts(latencies));
  enter("snapshot_reset", kConsumable, snapshot_reset_parts(latencies));
}

}  // namespace tallyfs::latency_hist
