// Publishes dumps of TCP connections: the object `total` of stats/tcp for all connections, and an
// object for each connection that the sample rates choose, named after its ends, as long as the
// connection and this process exist. The choice depends on the ends and the rates alone, and
// follows changes of the rates. The round-trip times of all connections are also samples of
// statistics/tcp, with the views that all latencies have.
//
// Confined to one thread. At most objects_max objects: further connections are in the total only,
// and count in statistics/tcp/data as left_out, as do connections that a dump has no room for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "feeders/tcp/tcp_blob.h"
#include "feeders/tcp/tcp_connections.h"
#include "tally/publish.h"
#include "tally/statistic.hpp"

namespace tallyfs {

class TcpFeeder {
 public:
  static constexpr const char* kSubsystem = "tcp";

  // template_id: TCP_DEFAULT's. kNoSpace.
  static Result<TcpFeeder> create(std::uint32_t template_id, std::size_t objects_max);
  TcpFeeder(TcpFeeder&& other) noexcept;
  TcpFeeder& operator=(TcpFeeder&&) = delete;
  // Takes its objects out of the tree.
  ~TcpFeeder();

  // Samples all connections of a dump, forgets those that are not in it, and publishes.
  void take(const TcpConnections::Scan& scan);
  // The published blob of all connections.
  const TcpBlob& total() const { return total_; }

 private:
  struct Object {
    stats_object* published = nullptr;
    TcpBlob blob;
  };
  struct Watched {
    Sampled sampled;
    std::uint64_t rolled = 0;  // with the rates of that number of changes
    std::uint64_t seen = 0;    // in which dump
    std::optional<Object> object;
  };

  TcpFeeder(std::uint32_t template_id, std::size_t objects_max, TcpBlob total);
  void begin_to_watch(const Connection& connection);
  void roll(const Connection& connection, Watched& watched, std::uint64_t changes);
  void add_object(const std::string& name, Watched& watched);
  void drop_object(Watched& watched);

  const std::uint32_t template_id_;
  const std::size_t objects_max_;
  tally::Interface interface_{"tcp", tally::Lifetime::kForGood, tally::Units::kAny,
                              tally::Feed::kOwner};
  tally::Statistic left_out_;
  tally::Statistic round_trips_;
  std::vector<tally::Statistic> round_trip_views_;
  TcpBlob total_;
  std::unordered_map<std::uint64_t, Watched> watched_;  // by cookie
  std::size_t objects_ = 0;
  std::uint64_t dumps_ = 0;
  bool saw_all_ = false;  // in the dump before
};

}  // namespace tallyfs
