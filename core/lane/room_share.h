// A share of a bounded room, such as the places of cells in a lane file. The destructor gives it
// back, so what is gone takes no room. Confined to its owner. The room is shared by all that have a
// part of it and by what it is the room of; the last of them frees it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace tallyfs {

class RoomShare {
 public:
  // How much is left.
  using Left = std::atomic<std::int64_t>;
  using Room = std::shared_ptr<Left>;

  RoomShare() = default;
  ~RoomShare() { give_back_all(); }
  RoomShare(RoomShare&& other) noexcept
      : room_(std::move(other.room_)), taken_(std::exchange(other.taken_, 0)) {}
  RoomShare& operator=(RoomShare&& other) noexcept {
    std::swap(room_, other.room_);
    std::swap(taken_, other.taken_);
    return *this;
  }

  // Always of the same room. False: there is not so much left.
  bool take(const Room& room, std::int64_t amount) {
    std::int64_t left = room->load(std::memory_order_relaxed);
    do {
      if (left < amount) return false;
    } while (!room->compare_exchange_weak(left, left - amount, std::memory_order_relaxed));
    room_ = room;
    taken_ += amount;
    return true;
  }
  // Takes what is missing to so much.
  bool hold(const Room& room, std::int64_t amount) {
    return taken_ >= amount || take(room, amount - taken_);
  }
  void give_back(std::int64_t amount) {
    if (amount == 0) return;
    taken_ -= amount;
    room_->fetch_add(amount, std::memory_order_relaxed);
  }
  void give_back_all() { give_back(taken_); }

 private:
  Room room_;
  std::int64_t taken_ = 0;
};

}  // namespace tallyfs
