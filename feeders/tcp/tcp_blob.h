// The template of TCP connections, TCP_DEFAULT, and blobs of it: of the smoothed round-trip time,
// the congestion window, the segments that were sent again and the delivery rate, each looked at
// once per period, the sum, the least and the largest, a histogram with steps that grow by powers
// of two in four parts each, and a t-digest of 50 centroids.
//
// A blob is confined to its owner.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/result.h"
#include "feeders/tcp/connection.h"
#include "tally/publish.h"

namespace tallyfs {

// The counts of a connection at the last look: the kernel counts retransmitted segments since the
// connection's begin.
struct Sampled {
  std::uint32_t retransmits = 0;
};

class TcpBlob {
 public:
  // Registers the template with the process: its slot ID. kInvalid: it cannot be made.
  static Result<std::uint32_t> make_template();

  // kNoSpace.
  static Result<TcpBlob> create(std::uint32_t template_id);

  // Adds the known numbers of a connection. Those that the kernel has not measured yet are left
  // out.
  void add(const Connection& now, const Sampled& before);
  const statsblob* get() const { return blob_.get(); }

 private:
  struct Destroy {
    void operator()(statsblob* blob) const { ::stats_blob_destroy(blob); }
  };
  explicit TcpBlob(statsblob* blob) : blob_(blob) {}
  std::unique_ptr<statsblob, Destroy> blob_;
};

}  // namespace tallyfs
