#include "feeders/send/patient_sender.h"

#include <chrono>
#include <thread>
#include <utility>

namespace tallyfs {
namespace {

// Between two looks for a daemon, or for the answer of one that is silent: short beside the time
// in which a person starts one, long beside what a look costs.
constexpr std::chrono::milliseconds kPause{200};

}  // namespace

Result<void> PatientSender::run() {
  for (;;) {
    if (const auto connected = connect(); !connected) return connected;
    const auto done = send_all();
    if (done || done.error().code != ErrorCode::kNotFound) return done;
    save_lines();
  }
}

Result<void> PatientSender::connect() {
  bool has_told = false;
  for (;;) {
    const auto connected = sender_.connect();
    if (connected && has_told) {
      tell_("connected to " + sender_.where() + ", " + std::to_string(queue_.size()) +
            " lines were kept");
    }
    if (connected || connected.error().code != ErrorCode::kNotFound) return connected;
    if (!std::exchange(has_told, true)) tell_("waiting: " + connected.error().reason);
    std::this_thread::sleep_for(kPause);
  }
}

Result<void> PatientSender::send_all() {
  for (;;) {
    current_ = queue_.try_pop();
    if (!current_) {
      if (const auto done = patiently([this] { return sender_.finish(); }); !done) return done;
      settled_ = taken_.load();
      current_ = queue_.pop();
    }
    if (!current_) return {};
    taken_ += 1;
    const NumberedLine line{.number = current_->number, .text = current_->text};
    if (const auto done = patiently([&] { return sender_.send(line); }); !done) return done;
    current_.reset();
  }
}

// A daemon that is silent has what was sent; an answer that comes late counts like any.
Result<void> PatientSender::patiently(const std::function<Result<void>()>& call) {
  bool has_told = false;
  for (;;) {
    const auto done = call();
    if (done || done.error().code != ErrorCode::kBusy) return done;
    if (!std::exchange(has_told, true)) tell_("waiting: " + done.error().reason);
    std::this_thread::sleep_for(kPause);
  }
}

void PatientSender::save_lines() {
  Sender::Left left = sender_.leave();
  if (current_) left.unsent.push_back(std::move(*current_));
  current_.reset();
  taken_ -= left.unsent.size();
  settled_ = taken_.load();
  queue_.put_back(std::move(left.unsent));
  std::string text = "the daemon at " + sender_.where() + " has ended";
  if (left.unanswered != 0) {
    text += "; whether " + std::to_string(left.unanswered) + " lines from line " +
            std::to_string(left.first_unanswered) + " on took effect is not known";
  }
  tell_(text);
}

}  // namespace tallyfs
