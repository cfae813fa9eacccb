// All events that this kernel could trace, each with its format, and how the daemon is told of
// them. What can be neither switched nor counted, such as `ftrace`, is not among them, nor is what
// programs have defined: an event that is on could not be removed by its program.
//
// Probes of this mount are added when they are made.
//
// Values. At most kEventsMax events; formats as long as kFormatBytesMax. An event of a module that
// is loaded later is known to the next catalogue that is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/tracing/probe/probe_line.h"

namespace tallyfs {

struct CatalogueEvent {
  std::uint16_t id = 0;
  std::string system;
  std::string name;
  std::string format;
  std::optional<tracing::ProbeTarget> probe = std::nullopt;
};

class Catalogue {
 public:
  static constexpr std::size_t kEventsMax = 65'536;
  // An event of the kernel's own takes up to 65,535: an index of all is no larger.
  static constexpr std::size_t kIdsEnd = 65'536;

  // Reads events/*/*/format below tracefs: some 50 ms for 2,000 of them.
  static Catalogue read(const Fd& tracefs);
  explicit Catalogue(std::vector<CatalogueEvent> events);

  const std::vector<CatalogueEvent>& events() const { return events_; }
  // In the place of one of the same id.
  void add(CatalogueEvent event);
  void remove(std::uint32_t id);
  // Nullptr: there is none.
  const CatalogueEvent* find(std::uint32_t id) const;
  const CatalogueEvent* find(std::string_view system, std::string_view name) const;

 private:
  std::vector<CatalogueEvent> events_;  // by id
};

}  // namespace tallyfs
