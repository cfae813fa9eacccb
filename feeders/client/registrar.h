// Registers with the daemon what is in the Registry: a Requester for interfaces, statistics, their
// changes and removals, and the page of switches.
//
// Confined to the Client's lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/wire/binary.h"
#include "feeders/client/cell_file.h"
#include "feeders/client/conversation.h"
#include "feeders/client/registry.h"
#include "feeders/client/requester.h"
#include "feeders/client/shapes.h"
#include "feeders/client/switches.h"

namespace tallyfs {

class Registrar final : public Requester {
 public:
  using Requester::note_change;
  using Time = std::chrono::nanoseconds;
  // Removals that wait for room; the oldest of more are forgotten, and stay in the tree.
  static constexpr std::size_t kRemovalsMax = 1024;

  // Lanes that could not be mapped; the daemon holds each until this process ends.
  static constexpr unsigned kLanesUnmappedMax = 4;

  // The memory that the daemon shares with this process.
  struct Shared {
    Switches& switches;
    Shapes& shapes;
    CellFiles& cells;
  };
  struct Lane {
    bool is_wanted = true;             // false: no sample is counted in a cell
    std::uint32_t statistics_max = 0;  // for which it has room; 0: not known
  };

  Registrar(Registry& registry, Conversation& conversation, const Shared& shared, Lane lane);

  // The size of the lane that is requested where threads want rings.
  static constexpr std::uint32_t kLaneBytesWithRings = 4u << 20;
  // What a statistic needs in a lane of one thread: a cell of its own, and places in indexes. A
  // statistic that goes by the ring counts too, as the daemon binds no more than have room.
  static constexpr std::uint32_t kLaneBytesOfStatistic = 256;

  // Statistics that want cells may get some now.
  void note_cells() {
    cells_due_ = true;
    note_change();
  }
  // Whether requests contain changes of statistics and new views, or samples have to be sent before
  // them.
  enum class Changes { kLater, kToo };
  void set_changes(Changes changes) { changes_ = changes; }
  // Something about this statistic may be due; or about any, which are then all looked at.
  void note_change(const FedStatistic& statistic);
  void note_change_anywhere();
  // Changes of statistics or new views have not been sent yet, and will be.
  bool has_pending();
  // Samples of the source are wanted until the daemon has answered for the view.
  void await_view(FedStatistic& source, const FedStatistic& view);
  // The answer is there, or not awaited any longer. Does nothing for what is no view.
  void end_wait_for_view(const FedStatistic& view);
  // Passes on what is pending of this statistic at once, if that is possible, else when it is.
  // Until the daemon has responded its switch is as the feeder wants it.
  void define(FedStatistic& statistic, Time now);
  // After a removal: the daemon hears nothing more of it, and its samples are dropped.
  static void forget(FedStatistic& statistic);
  static void forget(FedInterface& interface);
  // `target` is INTERFACE or INTERFACE/STATISTIC.
  void remove(const std::string& target);
  // In a child of fork(): changes and removals that wait are the parent's to send.
  void inherit();
  // Looks in the page for statistics that are gone: those only are void.
  void look_for_void();

  // The errno with which the daemon refused the first of the interfaces that it refused; else that
  // of the first of the statistics, or of its last change; 0: it refused none.
  int refusal() const;

 private:
  void forget_removals() override;
  void begin() override;
  void add_requests(RequestDatagram& requests) override;
  void note_unsent() override { cells_due_ = true; }
  bool has_more() override { return has_pending(); }
  void retry_refused() override;
  void take_stale(std::uint64_t number) override;

  bool has_cells() const;
  void find_due();
  void add_page(RequestDatagram& requests);
  void add_cells(RequestDatagram& requests);
  RequestHandlers memory_handlers(Registration& state, void (Registrar::*take)(const Response&));
  void add_binding(RequestDatagram& requests, FedStatistic& statistic);
  void add_changes(RequestDatagram& requests);
  void define(FedStatistic& statistic, Time now, Pending part, Alone alone);
  bool add_removals(RequestDatagram& requests);
  void add_interfaces(RequestDatagram& requests);
  void add_interface(RequestDatagram& requests, FedInterface& interface);
  void add_statistics(RequestDatagram& requests);
  void add_statistic(RequestDatagram& requests, FedStatistic& statistic);
  RequestHandlers change_handlers(FedStatistic& statistic, Pending part);
  void note_change_sent(FedStatistic& statistic, Pending part);

  void take_page(const Response& response);
  void take_shapes(const Response& response);
  void take_lane(const Response& response);
  void take_tails(const Response& response);
  void request_lane(RequestDatagram& requests);
  void take_binding(FedStatistic& statistic, std::uint64_t number, const Response& response);
  void take_removal(const Response& response);
  void take_interface(FedInterface& interface, const Response& response);
  // repeats: it was requested before, without a response until then.
  void take_statistic(FedStatistic& statistic, const Response& response, bool repeats);
  void take_change(FedStatistic& statistic, const Response& response);
  void report_warning(const FedStatistic& statistic, const Response& response);
  void ask_later(Registration& memory, const Response& response, std::string reason);
  void request_anew();
  std::uint32_t lane_bytes_wanted() const;
  void point_at_switch(FedStatistic& statistic);

  Registry& registry_;
  Switches& switches_;
  Shapes& shapes_;
  CellFiles& cells_;
  const Lane lane_;
  Changes changes_ = Changes::kToo;
  Registration page_ = Registration::kUnregistered;  // of switches
  Registration shapes_page_ = Registration::kUnregistered;
  Registration lane_file_ = Registration::kUnregistered;
  Registration tails_ = Registration::kUnregistered;
  // The ones of the four above that could not be mapped: they are requested again after the
  // back-off.
  std::vector<Registration*> unmapped_;
  unsigned lanes_unmapped_ = 0;
  bool reported_unmapped_ = false;
  std::uint32_t lane_bytes_ = 0;                  // of the last request
  std::uint32_t lane_bytes_max_ = kLaneBytesMax;  // less once the daemon had no room for so many
  std::deque<std::string> removals_;
  bool was_connected_ = false;
  bool cells_due_ = false;     // statistics that want cells may have none
  bool looks_at_all_ = false;  // before the next requests, for what is due
};

}  // namespace tallyfs
