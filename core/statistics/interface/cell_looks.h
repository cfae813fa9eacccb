// Which look at the cells of an interface serves more than the one that took it. Opens and stat()
// that wait for the interface while its cells are read do not read them again, one after the other,
// and stat() reads none while an open waits.
//
// begin() and end() are of the owner of the interface's lock. A call is made before the lock is
// taken, and asked under it.
#pragma once

#include <atomic>
#include <cstdint>

namespace tallyfs::statistics {

class CellLooks {
 public:
  // Shows all that was there when it came: a look that has begun since then will do. It waits until
  // it ends.
  class Open {
   public:
    explicit Open(CellLooks& looks) : looks_(looks), begun_(looks.begun_) { ++looks.opens_; }
    ~Open() { --looks_.opens_; }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

    bool is_served() const { return looks_.done_ > begun_; }

   private:
    CellLooks& looks_;
    const std::uint64_t begun_;
  };
  // Shows a size or a time: a look that was under way when it came will do, and the last one
  // beside an open that waits, since that looks next.
  class Stat {
   public:
    explicit Stat(const CellLooks& looks) : looks_(looks), done_(looks.done_) {}

    bool is_served() const { return looks_.done_ > done_ || looks_.opens_ != 0; }

   private:
    const CellLooks& looks_;
    const std::uint64_t done_;
  };

  void begin() { ++begun_; }
  void end() { done_.store(begun_); }

 private:
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> done_{0};  // the last one that has ended
  std::atomic<std::uint32_t> opens_{0};
};

}  // namespace tallyfs::statistics
