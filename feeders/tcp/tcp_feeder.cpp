#include "feeders/tcp/tcp_feeder.h"

#include <utility>

#include "feeders/tcp/tcp_rates.h"
#include "program/feeder/latency_views.h"

namespace tallyfs {
namespace {

constexpr const char* kTotal = "total";
constexpr const char* kRoundTrips = "round_trips";

const tally::Definition kLeftOut{.units = "connections/dumps", .begin = tally::Begin::kOn};
// To a second in powers of two: a loopback takes ten microseconds, a satellite 600 milliseconds.
const tally::Definition kTimes{.units = "microseconds/connections",
                               .type = tally::Array{.range = {0, 1 << 20}},
                               .begin = tally::Begin::kOn};

}  // namespace

Result<TcpFeeder> TcpFeeder::create(std::uint32_t template_id, std::size_t objects_max) {
  auto total = TcpBlob::create(template_id);
  if (!total) return total.error();
  return TcpFeeder(template_id, objects_max, std::move(total.value()));
}

TcpFeeder::TcpFeeder(std::uint32_t template_id, std::size_t objects_max, TcpBlob total)
    : template_id_(template_id),
      objects_max_(objects_max),
      left_out_(interface_, "left_out", kLeftOut),
      round_trips_(interface_, kRoundTrips, kTimes),
      round_trip_views_(create_latency_views(round_trips_, kRoundTrips)),
      total_(std::move(total)) {}

TcpFeeder::TcpFeeder(TcpFeeder&& other) noexcept = default;

TcpFeeder::~TcpFeeder() {
  for (auto& [cookie, watched] : watched_) drop_object(watched);
}

void TcpFeeder::take(const TcpConnections::Scan& scan) {
  const std::uint64_t changes = tcp_rates::changes();
  dumps_ += 1;
  // Closed connections are removed first: new ones may have their names.
  for (const Connection& each : scan.connections) begin_to_watch(each);
  for (auto each = watched_.begin(); each != watched_.end();) {
    if (each->second.seen == dumps_) {
      ++each;
      continue;
    }
    drop_object(each->second);
    each = watched_.erase(each);
  }
  for (const Connection& each : scan.connections) {
    Watched& watched = watched_[each.cookie];
    roll(each, watched, changes);
    total_.add(each, watched.sampled);
    if (each.rtt_us != 0) round_trips_.add(each.rtt_us, 1);
    if (watched.object) {
      watched.object->blob.add(each, watched.sampled);
      (void)::stats_object_publish(watched.object->published, watched.object->blob.get());
    }
    watched.sampled.retransmits = each.retransmits;
  }
  saw_all_ = scan.left_out == 0;
  if (scan.left_out != 0) left_out_.add(0, scan.left_out);
  (void)::stats_publish(kSubsystem, kTotal, total_.get());
}

// Segments sent again before the first dump are not counted. A connection that was not in the dump
// before has none of them.
void TcpFeeder::begin_to_watch(const Connection& connection) {
  const auto [found, is_new] = watched_.try_emplace(connection.cookie);
  found->second.seen = dumps_;
  if (is_new && !saw_all_) found->second.sampled.retransmits = connection.retransmits;
}

void TcpFeeder::roll(const Connection& connection, Watched& watched, std::uint64_t changes) {
  // There has been one change at least, when the rates were first set.
  if (std::exchange(watched.rolled, changes) == changes) return;
  const std::string name = name_of(connection);
  const bool chosen = tcp_rates::roll(name) >= 0;
  if (chosen == watched.object.has_value()) return;
  if (!chosen) return drop_object(watched);
  if (objects_ < objects_max_) return add_object(name, watched);
  left_out_.add(0, 1);
}

void TcpFeeder::add_object(const std::string& name, Watched& watched) {
  auto blob = TcpBlob::create(template_id_);
  stats_object* published = nullptr;
  if (!blob ||
      ::stats_object_create(&published, kSubsystem, name.c_str(), STATS_LIFETIME_FEEDER) != 0) {
    left_out_.add(0, 1);
    return;
  }
  watched.object.emplace(Object{published, std::move(blob.value())});
  objects_ += 1;
}

void TcpFeeder::drop_object(Watched& watched) {
  if (!watched.object) return;
  ::stats_object_remove(&watched.object->published);
  watched.object.reset();
  objects_ -= 1;
}

}  // namespace tallyfs
