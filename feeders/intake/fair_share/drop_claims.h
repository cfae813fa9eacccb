// Counts what feeders claim to have dropped, by uid. A claim is a number that any sender makes up:
// of a uid no more counts than a program could ever have dropped, so that all claims together
// cannot bring the daemon's count to its end.
//
// Limits: kUidsMax uids. All further ones, of which a user namespace has 65,536, share an account
// in which a claim is so small that millions fit.
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
  static constexpr std::uint64_t kOfOthersMax = std::uint64_t{1} << 62;
  static constexpr std::uint64_t kClaimOfOthersMax = std::uint64_t{1} << 38;

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
    of_others_ = std::min(in.get<std::uint64_t>(), kOfOthersMax);
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
    const bool has_account = by_uid_.contains(uid) || by_uid_.size() < kUidsMax;
    if (has_account) return take(by_uid_[uid], claimed, kOfUidMax);
    return take(of_others_, std::min(claimed, kClaimOfOthersMax), kOfOthersMax);
  }

 private:
  static std::uint64_t take(std::uint64_t& account, std::uint64_t claimed, std::uint64_t most) {
    const std::uint64_t counts = std::min(claimed, most - account);
    account += counts;
    return counts;
  }

  boost::unordered_flat_map<uid_t, std::uint64_t> by_uid_;
  std::uint64_t of_others_ = 0;
};

}  // namespace tallyfs
