// The interface of a file that makes a sample of each write(2), and changes no setting by it.
//
// Called from several threads at once, without any lock of the tree held.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/call_context.h"
#include "core/base/result.h"

namespace tallyfs {

class Marker {
 public:
  virtual ~Marker() = default;

  // How many bytes of a write are taken, as write(2) then returns. The default takes all.
  virtual std::size_t bytes_max() const { return SIZE_MAX; }
  // writer: the thread that writes. bytes: what one write(2) wrote.
  virtual Result<void> write(pid_t writer, std::string_view bytes, const CallContext& call) = 0;
};

}  // namespace tallyfs
