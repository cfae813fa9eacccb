// Keeps changes and removals of statistics in their order with the samples: a change is sent after
// what threads added before it, and a barrier in each buffer holds back what they add after it.
//
// Confined to the Client's lock.
#pragma once

#include <chrono>

#include "feeders/client/cell_file.h"
#include "feeders/client/conversation.h"
#include "feeders/client/deferred_removal.h"
#include "feeders/client/delivery.h"
#include "feeders/client/registrar.h"
#include "feeders/client/registry.h"

namespace tallyfs {

// Whether the daemon deletes what the program drops.
enum class ServerSide { kDelete, kKeep };

class OrderedChanges {
 public:
  using Time = std::chrono::nanoseconds;

  struct Dependencies {
    Registry& registry;
    Registrar& registrar;
    Conversation& conversation;
    CellFiles& cell_files;
    ThreadBuffers& buffers;
    Delivery& delivery;
  };
  explicit OrderedChanges(const Dependencies& dependencies)
      : its_(dependencies), removal_(dependencies.registry) {}

  // The program has changed the statistic: sends the change, or holds back what is added after it.
  void send(FedStatistic& statistic);
  // The source has a new view, which wants the samples that are added from now on.
  void send_view(FedStatistic& source, const FedStatistic& view);
  // The program has dropped the statistic. kDelete takes its samples along; with kKeep they are to
  // be complete in the tree.
  void remove(FedStatistic& statistic, ServerSide side);
  // Destroys dropped statistics of which no buffer holds samples any more.
  void destroy_removed();
  bool has_removed() const { return !removal_.empty(); }
  // Sends all requests that are due, changes included as far as their turn has come.
  void request(Time now);
  // In a forked child: what waits is the parent's.
  void reset_in_child();

 private:
  void send_next_by_socket(FedStatistic& statistic);
  void raise_barriers();
  void lower_barriers();

  const Dependencies its_;
  DeferredRemoval removal_;
  // Changes and new views wait for room in the daemon's queue, and samples for them.
  bool has_barriers_ = false;
};

}  // namespace tallyfs
