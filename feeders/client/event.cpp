// The C functions of tally/event.h.
#include "tally/event.h"

#include <cerrno>

#include "feeders/client/client.h"
#include "feeders/client/process_client.h"

using namespace tallyfs;

int event_register(user_event** event, const char* system, const char* name, const char* fields) {
  if (!event || !system || !name || !fields) return -EINVAL;
  return with_client([&](Client& client) {
    FedEvent* made = nullptr;
    const int error = client.events().add(&made, system, name, fields);
    if (error == 0) *event = made;
    return error;
  });
}

void event_unregister(user_event** event) {
  if (!event || !*event) return;
  with_client([&](Client& client) {
    client.events().remove(*static_cast<FedEvent*>(*event));
    return 0;
  });
  *event = nullptr;
}

int event_on_write(user_event* event, const void* fields, size_t bytes) {
  if (!event || !fields) return -EINVAL;
  return with_client([&](Client& client) {
    return client.events().write(*static_cast<FedEvent*>(event), fields, bytes);
  });
}
