#include "tools/ctl/readings.h"

namespace tallyfs {

Result<void> Readings::read(const SelectedStatistic& what) {
  const auto found = now_.find(what.interface);
  if (found != now_.end()) return check_selected(source_, found->second.interface, what);
  Json json;
  auto made =
      change_ ? read_interface(source_, what.interface) : read_selected(source_, what, json);
  if (!made) return made.error();
  if (change_) {
    change_(made.value());
    if (auto done = check_selected(source_, made.value(), what); !done) return done;
  }
  now_.emplace(what.interface, ReadInterface{std::move(json), std::move(made).value()});
  return {};
}

}  // namespace tallyfs
