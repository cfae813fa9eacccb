// The socket on which connections arrive: of an address and a port, or of a path.
#pragma once

#include <string>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs::web {

struct Listening {
  Fd fd;
  std::string host;       // the address, for the header Host; empty for a Unix socket
  std::string url;        // "http://127.0.0.1:8255/", or "unix:/run/tally-web/http"
  std::string unix_path;  // to be removed at the end; empty for others
  bool is_loopback = true;
};

// The fault in the text of an address; empty: none. Makes no system call.
std::string fault_of_address(const std::string& text);

// `text` is ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH; port 0 is any that is free. The address is
// numeric. A socket file that no process holds any more is replaced; a new one has mode 0660.
// kInvalid: no such address, or the system's reason.
Result<Listening> listen_on(const std::string& text);

}  // namespace tallyfs::web
