#include "feeders/client/daemon_connection.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tallyfs {
namespace {

constexpr DaemonConnection::Time kPauseMax = std::chrono::seconds(2);

}  // namespace

void DaemonConnection::connect(Time now) {
  if (its_.link.connected() || now < connect_at_) return;
  if (const auto done = its_.link.connect(); !done) {
    if (!std::exchange(reported_missing_, true)) {
      its_.reports.add("no daemon yet: " + done.error().reason + "; " +
                       its_.socket.hint());
    }
    connect_at_ = now + pause_;
    pause_ = std::min(2 * pause_, kPauseMax);
    return;
  }
  if (!reported_missing_) report_sending();
  was_connected_ = true;
  touched_at_ = now;
  its_.conversation.begin();
}

// A daemon that ends refuses all that is sent, while its socket can still be connected to. So the
// next one is there when it has answered.
void DaemonConnection::record_answer() {
  pause_ = kPauseMin;
  reported_missing_ = false;
  if (!reported_sending_) report_sending();
}

void DaemonConnection::report_sending() {
  reported_sending_ = true;
  its_.reports.add("sending to " + its_.link.path());
}

void DaemonConnection::notice_end(Time now) {
  if (!was_connected_ || its_.link.connected()) return;
  its_.cell_files.retire();  // what is counted from now on is for the next daemon
  its_.replay.expect();
  // Threads that have just sent something have counted it when they unlock their buffers.
  its_.buffers.wait_for_senders();
  its_.delivery.lose_unconfirmed();
  its_.delivery.expect_room();
  was_connected_ = false;
  if (std::exchange(reported_sending_, false)) {
    its_.reports.add("the daemon at " + its_.link.path() + " is gone");
  }
  reported_missing_ = true;
  connect_at_ = now + pause_;
  if (its_.conversation.epoch() == 0) pause_ = std::min(2 * pause_, kPauseMax);
}

void DaemonConnection::enter_epoch(std::uint64_t epoch) {
  record_answer();
  its_.replay.expect();
  const std::uint64_t before = its_.delivery.enter_epoch(epoch);
  its_.buffers.wait_for_senders();
  // Samples that waited in the socket do not count for another daemon.
  its_.delivery.lose_unconfirmed();
  const bool is_unread = its_.cell_files.take_unread();
  if (before == 0 || before == epoch) return;
  using CellsEnd = LaneProgress::CellsEnd;
  its_.progress.end_daemon(is_unread ? CellsEnd::kUnread : CellsEnd::kRead);
  book_cells();
}

void DaemonConnection::release_cell_files() {
  if (!its_.cell_files.has_retired()) return;
  const std::vector<ThreadBuffer*> buffers = its_.buffers.all();
  its_.cell_files.release_retired(
      buffers.size(), [&](std::size_t i) { return buffers[i]->is_in_file(); },
      [this](const CellFile& file, const LaneTails& tails) {
        return its_.replay.take(file, tails, its_.conversation.epoch());
      });
  if (its_.cell_files.has_retired()) return;
  its_.registrar.note_cells();
  book_cells();
}

void DaemonConnection::book_cells() {
  const std::uint64_t lost = its_.progress.book_cells();
  if (lost == 0) return;
  its_.reports.add(std::to_string(lost) +
                   " samples may be lost: the daemon that could have counted them was killed");
}

void DaemonConnection::keep_in_touch(Time now) {
  report_dropped();
  const std::uint64_t sent = its_.delivery.sent();
  const bool is_idle = now - touched_at_ >= kIdlePause || its_.link.has_lost_channel();
  if (its_.delivery.is_confirmed(sent) && !is_idle) return;
  its_.conversation.ping(now, sent);
  if (!is_idle) return;
  its_.registrar.look_for_void();
  touched_at_ = now;
}

void DaemonConnection::report_dropped() {
  const std::uint64_t dropped = its_.counts.dropped();
  if (dropped == reported_dropped_) return;
  wire::DatagramWriter datagram(its_.delivery.epoch());
  datagram.dropped(dropped - reported_dropped_);
  if (its_.link.send(datagram.bytes()) == Link::Sent::kDone) reported_dropped_ = dropped;
}

void DaemonConnection::reset_in_child() {
  its_.link.disconnect();
  was_connected_ = false;
  connect_at_ = Time(0);
  reported_dropped_ = 0;
}

}  // namespace tallyfs
