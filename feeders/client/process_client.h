// The one Client of the process, for the C functions that are not in statistic.cpp, which makes it.
#pragma once

#include "feeders/client/socket_path.h"

namespace tallyfs {

class Client;

// Calls what(client, context) as every C function calls the Client: with no signal in between and
// errno as it was. What that returns, or -ENOMEM. No exception leaves it.
int call_client(int (*what)(Client& client, void* context), void* context);

// The socket that statistic_configure() has set, which cannot be changed from then on. For calls
// that need no Client.
SocketPath configured_socket_path();

template <typename Do>
int with_client(Do&& what) {
  return call_client(
      [](Client& client, void* context) { return (*static_cast<Do*>(context))(client); }, &what);
}

}  // namespace tallyfs
