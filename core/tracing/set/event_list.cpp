#include "core/tracing/set/event_list.h"

namespace tallyfs::tracing {
namespace {

void append_event(std::string& text, const ListedEvent& event) {
  text.append(event.system).append(":").append(event.name).append("\n");
}

}  // namespace

std::string event_list_text(const EventList& events) {
  std::string text;
  for (const ListedEvent& event : events) append_event(text, event);
  return text;
}

std::string event_list_text(const ChosenEvents& events) {
  std::string text;
  for (std::size_t i = 0; i < events.list->size(); ++i) {
    if (events.chosen[i]) append_event(text, (*events.list)[i]);
  }
  return text;
}

}  // namespace tallyfs::tracing
