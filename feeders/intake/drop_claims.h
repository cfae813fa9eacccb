// What feeders claim to have dropped, by uid. A claim is a number that any sender makes up: of a
// uid no more counts than a program could ever have dropped, so that all claims together cannot
// bring the daemon's count to its end.
//
// Limits: kUidsMax uids; all further ones share one account.
// Confined to the thread that has the intake's turn.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace tallyfs {

class DropClaims {
 public:
  // A million samples a second for nine years.
  static constexpr std::uint64_t kOfUidMax = std::uint64_t{1} << 48;
  static constexpr std::size_t kUidsMax = 1024;

  // For the next server of the mount. load() fails the reader.
  void save(ByteWriter& out) const {
    out.put(of_others_);
    out.put(static_cast<std::uint32_t>(by_uid_.size()));
    for (const auto& [uid, claimed] : by_uid_) {
      out.put(std::uint32_t{uid});
      out.put(claimed);
    }
  }
  void load(ByteReader& in) {
    of_others_ = std::min(in.get<std::uint64_t>(), kOfUidMax);
    auto left = in.get<std::uint32_t>();
    if (left > kUidsMax) in.fail();
    for (; in.ok() && left != 0; --left) {
      const uid_t uid = in.get<std::uint32_t>();
      by_uid_[uid] = std::min(in.get<std::uint64_t>(), kOfUidMax);
    }
  }

  static Error too_many() {
    return {ErrorCode::kInvalid, "more dropped samples are reported than a uid can have sent"};
  }
  // How much of the claim counts.
  std::uint64_t take(uid_t uid, std::uint64_t claimed) {
    std::uint64_t& of_uid = account(uid);
    const std::uint64_t counts = std::min(claimed, kOfUidMax - of_uid);
    of_uid += counts;
    return counts;
  }

 private:
  std::uint64_t& account(uid_t uid) {
    const auto found = by_uid_.find(uid);
    if (found != by_uid_.end()) return found->second;
    return by_uid_.size() < kUidsMax ? by_uid_[uid] : of_others_;
  }

  boost::unordered_flat_map<uid_t, std::uint64_t> by_uid_;
  std::uint64_t of_others_ = 0;
};

}  // namespace tallyfs
