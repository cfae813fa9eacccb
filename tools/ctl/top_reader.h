// The thread that reads for `top`: statistics.json, then data.json of the interface that is
// selected, each period. A daemon that hangs leaves the keys alive; the fault stands in the moment.
//
// The source belongs to the thread; all else passes through mailboxes. wake_fd() is readable when
// there is a new moment. The destructor waits for the read at hand, kAnswerMax a file at the most.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tools/ctl/mailbox.h"
#include "tools/ctl/top_map.h"
#include "tools/display/statistic.h"
#include "tools/past/store.h"
#include "tools/tree/source.h"

namespace tallyfs {

struct TopSource {
  std::unique_ptr<Source> source;
  // Of a store: what of it was found damaged, of what was read by now.
  std::function<const std::vector<past::Fact>&()> damaged{};
};
// Opens the past at a moment of the wall clock.
using OpenAt = std::function<Result<TopSource>(std::uint64_t realtime_us)>;

// Where in the past the reader is to go on.
struct TopPlace {
  std::uint64_t number = 0;  // how often one was chosen
  std::uint64_t realtime_us = 0;
};

// The past of a statistic's map, each number once.
struct TopMapOrder {
  std::uint64_t number = 0;
  std::string statistic{};             // of the interface that is read
  std::chrono::microseconds period{};  // of its columns
};

struct TopMoment {
  std::uint64_t place = 0;  // the number of the place from which it was reached
  std::optional<view::Tree> tree;
  std::optional<view::Interface> interface;
  std::uint64_t dropped = 0;
  std::string fault{};  // why nothing was read
  std::vector<past::Fact> damaged{};
};

// Orders for the reader. It reads at once for new ones.
struct TopOrders {
  std::string interface {};  // whose data is read
  std::chrono::microseconds period{};
  int speed = 1;  // of the past: moments that pass in a period
  TopPlace place{};
  TopMapOrder map{};
  bool ends = false;
};

class TopReader {
 public:
  // open_at: of a store; empty for what has one direction. map_store: the store that records a
  // mount; empty: none is known.
  TopReader(TopSource source, std::chrono::microseconds period, OpenAt open_at,
            std::string map_store = "");
  ~TopReader();

  int wake_fd() const { return moments_.fd(); }
  // The newest moment, once; null if there is no new one.
  std::unique_ptr<TopMoment> take() { return moments_.take(); }
  // The past that was ordered last, once; it comes no later than the moment that was read with it.
  std::unique_ptr<MapPast> take_map_past() { return map_pasts_.take(); }
  void order(TopOrders orders) { orders_.put(std::move(orders)); }

 private:
  void run(TopOrders orders);
  TopMoment read(const TopOrders& orders);
  void read_map(const TopOrders& orders, const TopMoment& moment);
  Result<void> go_to(const TopPlace& place);
  // True if there are new orders; false after the period, or never without one.
  bool wait_for_orders(std::optional<std::chrono::microseconds> period) const;

  TopSource source_;
  const OpenAt open_at_;
  const std::string map_store_;
  std::uint64_t map_ = 0;    // the number of the map whose past was read last
  std::uint64_t place_ = 0;  // the number of the one from which the source was opened
  Mailbox<TopMoment> moments_;
  Mailbox<MapPast> map_pasts_;
  Mailbox<TopOrders> orders_;
  std::thread thread_;
};

}  // namespace tallyfs
