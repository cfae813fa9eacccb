// Adds samples to statistics: by name, by number, and those of rings. Samples of one interface that
// come one after the other are added under one hold of its lock.
//
// Confined to the lock of the StatisticsBranch.
#pragma once

#include <array>
#include <bitset>
#include <optional>

#include "core/statistics/branch/applied_rules.h"
#include "core/statistics/branch/input_log.h"
#include "core/statistics/branch/registry.h"
#include "core/tree/error_log.h"
#include "core/wire/binary.h"

namespace tallyfs::statistics {

// The result of adding samples. A rejected one counts nowhere but here.
struct Taken {
  // No more reasons are made than the error log shows of a batch.
  static constexpr std::size_t kReasonsMax = ErrorLog::kSocketEntries;

  struct Rejected {
    std::size_t index = 0;  // of the sample in its batch
    Error error;
  };

  std::uint64_t samples = 0;
  std::uint64_t rounded = 0;       // of them, those with more places than the statistic's decimals
  std::uint64_t beside_lanes = 0;  // of them, those that a feeder could add to a cell or a ring
  // Interfaces in which a counter reached the end of its type; once for each statistic until it is
  // reset.
  std::vector<std::string> saturated;
  std::uint64_t rejects = 0;
  std::vector<Rejected> rejected;  // of them, the first kReasonsMax
};

// The result of adding samples of rings. Samples are lost whose number names nothing (any more), or
// whose interface the uid may not feed.
struct TakenFromRing {
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;
  std::vector<std::string> saturated;  // as Taken's
};

class SampleAdder {
 public:
  // All outlive it.
  SampleAdder(Registry& registry, AppliedRules& rules, InterfaceRights rights,
              const InputState& input)
      : registry_(registry), rules_(rules), rights_(rights), input_(input) {}

  // As StatisticsBranch::add().
  Taken add(NamedSamples& samples, uid_t sender, Timestamp now);
  Result<Taken> add(wire::PackedSamples samples, uid_t sender, Timestamp now);
  TakenFromRing add(std::span<const NumberedRun> runs, uid_t sender, Timestamp now);

 private:
  class Runs;
  // Buffers for adding; members, since making it anew for each datagram costs more than the adding.
  struct Workspace {
    // The samples of one statistic.
    struct Group {
      StatisticEntry* entry = nullptr;
      std::size_t size = 0;
      std::size_t end = 0;  // of those that are in the scratch
    };
    std::array<StatisticEntry*, NamedSamples::kCapacity> entries;  // of the names
    std::array<Group, NamedSamples::kCapacity> groups;
    std::array<std::uint32_t, NamedSamples::kCapacity> group_of;  // a name
    std::array<Run, NamedSamples::kCapacity> runs;
    std::array<Sample, NamedSamples::kCapacity> scratch;
    std::bitset<NamedSamples::kCapacity> rejected;  // samples
  };

  struct Refused {
    std::size_t name = 0;
    Error error;
  };
  // Looks up each of the names, into the workspace; makes those that are missing. A name that is
  // refused has no entry; returns the first kReasonsMax of these.
  std::vector<Refused> look_up(const NamedSamples& samples, uid_t creator, Timestamp now);
  // Looks up each of the numbers, into the workspace; none where the sender may not feed it. At
  // most NamedSamples::kCapacity.
  void look_up(std::span<const NumberedRun> runs, uid_t sender);
  Result<StatisticEntry*> find_or_create(const NamedSamples& samples, std::size_t name,
                                         uid_t creator, Timestamp now);
  // Whether some X is not yet what its statistic keeps.
  bool has_decimals(const NamedSamples& samples) const;
  // Makes X what its statistic keeps. Rejects samples that have none, or whose X cannot be kept.
  void scale(NamedSamples& samples, std::span<const Refused> refused, Taken& taken);
  // Returns an error for a new name, all of whose samples are decimals, if no rule gives it places.
  std::optional<Error> refuse_decimals(const NamedSamples& samples, std::size_t name);
  // Adds the samples that are not rejected.
  void add_in_order(const NamedSamples& samples, Runs& runs);
  // Groups the names, which all have an entry in the workspace, and counts their samples.
  std::span<Workspace::Group> group(const NamedSamples& samples);
  void add_by_group(const NamedSamples& samples, Runs& runs);
  Registry& registry_;
  AppliedRules& rules_;
  const InterfaceRights rights_;
  const InputState& input_;
  Workspace workspace_;
};

}  // namespace tallyfs::statistics
