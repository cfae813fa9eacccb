// The response to one readdir or readdirplus: entries packed until the caller's buffer is full.
// Lives for one request, on its thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/tree/tree.h"
#include "fs/protocol.h"

namespace tallyfs {

class Listing {
 public:
  // The attributes of an entry for the kernel; only a readdirplus asks for them.
  using Describe = std::function<fuse_entry_param(const NodeInfo& info)>;

  // A readdir of size bytes; describe makes it a readdirplus.
  Listing(fuse_req_t request, std::size_t size, Describe describe = {})
      : request_(request), buffer_(size), describe_(std::move(describe)) {}

  // Packs the entries behind the cookie `after`: ".", "..", then the entries by id, which is their
  // cookie. Stops where the buffer or the directory ends; a directory removed meanwhile has ended.
  void fill(const Tree& tree, const NodeInfo& directory, off_t after);
  void reply() { fuse_reply_buf(request_, buffer_.data(), used_); }

 private:
  // False when the buffer is full.
  bool add(const std::string& name, const NodeInfo& info, off_t cookie);
  std::size_t pack(const std::string& name, const NodeInfo& info, off_t cookie);

  const fuse_req_t request_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  const Describe describe_;
};

}  // namespace tallyfs
