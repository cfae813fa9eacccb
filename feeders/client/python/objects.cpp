#include "feeders/client/python/objects.h"

namespace tallyfs::python {
namespace {

constexpr std::uint32_t kOff = 0;

void drop_handle(Drop drop) {
  const bool is_removed = drop.server_side == ServerSide::kDelete;
  if (drop.statistic && is_removed) statistic_remove(&drop.statistic);
  if (drop.statistic) statistic_release(&drop.statistic);
  if (drop.interface && is_removed) statistic_interface_remove(&drop.interface);
  if (drop.interface) statistic_interface_release(&drop.interface);
}

void drop_when_unused(InterfaceObject& interface, const Drop& drop) {
  if (interface.calls == 0) return drop_handle(drop);
  if (!interface.drops) interface.drops = new std::vector<Drop>;
  interface.drops->push_back(drop);
}

}  // namespace

Types g_types{};
::statistic g_released{&kOff};
bool g_may_wait = false;

void drop(FedObject& fed, ServerSide server_side) {
  if (is_released(fed)) return;
  ::statistic* const handle = std::exchange(fed.handle, &g_released);
  drop_when_unused(*fed.interface, {handle, nullptr, server_side});
}

void drop(InterfaceObject& interface, ServerSide server_side) {
  if (!interface.handle) return;
  for (FedObject* each = interface.first; each; each = each->next) each->handle = &g_released;
  drop_when_unused(interface, {nullptr, std::exchange(interface.handle, nullptr), server_side});
}

Outside leave_python(FedObject& fed) {
  fed.interface->calls += 1;
  Py_INCREF(reinterpret_cast<PyObject*>(fed.interface));
  return {fed.interface, PyEval_SaveThread()};
}

void enter_python(const Outside& outside) {
  PyEval_RestoreThread(outside.state);
  InterfaceObject& interface = *outside.interface;
  interface.calls -= 1;
  if (interface.calls == 0 && interface.drops) {
    const std::vector<Drop>* const drops = std::exchange(interface.drops, nullptr);
    for (const Drop& each : *drops) drop_handle(each);
    delete drops;
  }
  Py_DECREF(reinterpret_cast<PyObject*>(&interface));
}

}  // namespace tallyfs::python
