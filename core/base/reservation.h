// A share of the ledger, released by the destructor. Confined to its owner; the ledger outlives it.
#pragma once

#include <sys/types.h>

#include <utility>

#include "core/base/ledger.h"
#include "core/base/result.h"

namespace tallyfs {

class Reservation {
 public:
  // kNoSpace: a limit of the ledger does not allow it.
  static Result<Reservation> create(Ledger& ledger, uid_t uid, const Holdings& held) {
    Reservation reservation(ledger, uid);
    if (auto grown = reservation.grow(held); !grown) return grown.error();
    return reservation;
  }
  ~Reservation() {
    if (ledger_) ledger_->release(uid_, held_);
  }
  Reservation(Reservation&& other) noexcept
      : ledger_(std::exchange(other.ledger_, nullptr)), uid_(other.uid_), held_(other.held_) {}
  Reservation& operator=(Reservation&&) = delete;

  uid_t uid() const { return uid_; }

  // kNoSpace: nothing changed.
  Result<void> grow(const Holdings& more) {
    if (auto reserved = ledger_->reserve(uid_, more); !reserved) return reserved.error();
    held_.interfaces += more.interfaces;
    held_.statistics += more.statistics;
    held_.bytes += more.bytes;
    return {};
  }
  // less: at most what is held.
  void shrink(const Holdings& less) {
    ledger_->release(uid_, less);
    held_.interfaces -= less.interfaces;
    held_.statistics -= less.statistics;
    held_.bytes -= less.bytes;
  }
  // Releases all of it.
  void release() { ledger_->release(uid_, std::exchange(held_, {})); }

 private:
  Reservation(Ledger& ledger, uid_t uid) : ledger_(&ledger), uid_(uid) {}

  Ledger* ledger_;
  uid_t uid_;
  Holdings held_;
};

}  // namespace tallyfs
