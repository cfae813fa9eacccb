// Orders of the daemon to the feeder of the kernel's events for probes (order.h has the rest of
// their protocol). One datagram of text each:
//
//   daemon   probe NUMBER SERIAL new|known KIND EVENT TEXT   makes the probe of that serial with
//            this place, or adds the place; known: unless a predecessor has done so. KIND is p or
//            r, TEXT is PATH:OFFSET ARGUMENTS
//   feeder   probed NUMBER SERIAL ID TEXT                    the place as the kernel repeats it
//            the lines of the event's format, with EVENT as its name
//   feeder   refused NUMBER ERRNO AT LOCATION REASON         AT: the byte of TEXT, `-` for none;
//            LOCATION without blanks
//   daemon   unprobe NUMBER SERIAL,...                       these go; unknown ones are left out
//   daemon   probes NUMBER SERIAL,...                        all others go
//
// Pure functions. An order has at most kOrderBytesMax bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tallyfs::wire {

struct ProbeOrder {
  std::uint64_t number = 0;
  std::uint64_t serial = 0;
  bool is_known = false;
  char kind = 'p';
  std::string event = {};
  std::string text = {};
};
struct Probed {
  std::uint64_t number = 0;
  std::uint64_t serial = 0;
  std::uint32_t id = 0;
  std::string text = {};
  std::string format = {};
};
struct Refused {
  std::uint64_t number = 0;
  Error error;
};
struct UnprobeOrder {
  std::uint64_t number = 0;
  std::vector<std::uint64_t> serials = {};
};
struct ProbesOrder {
  std::uint64_t number = 0;
  std::vector<std::uint64_t> serials = {};
};

std::string print(const ProbeOrder& order);
std::string print(const Probed& reply);
std::string print(const Refused& reply);
std::string print(const UnprobeOrder& order);
std::string print(const ProbesOrder& order);

// `text` behind the verb and the number. Nothing: it is no such text.
std::optional<ProbeOrder> parse_probe_order(std::uint64_t number, std::string_view text);
std::optional<Probed> parse_probed(std::uint64_t number, std::string_view text);
std::optional<Refused> parse_refused(std::uint64_t number, std::string_view text);
std::optional<std::vector<std::uint64_t>> parse_serials(std::string_view text);

}  // namespace tallyfs::wire
