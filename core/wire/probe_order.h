// Orders of the daemon to the feeder of the kernel's events for probes (order.h has the rest of
// their protocol). One datagram of text each:
//
//   daemon   probe NUMBER SERIAL new|known KIND EVENT TEXT   makes the probe of that serial with
//            this place, or adds the place; known: unless a predecessor has done so. KIND is p, r
//            or rINSTANCES, TEXT is PATH:OFFSET ARGUMENTS, or FUNCTION ARGUMENTS of the kernel.
//            KIND e, f, fINSTANCES or t: TEXT is as the kernel takes it
//   feeder   probed NUMBER SERIAL ID FILE TEXT               the place as the kernel repeats it.
//            FILE: which file it is in, MAJOR:MINOR:INODE; `-` if that is not known, as of what a
//            predecessor has made
//            the lines of the event's format, with EVENT as its name
//   feeder   refused NUMBER ERRNO AT LOCATION REASON         AT: the byte of TEXT, `-` for none;
//            LOCATION without blanks
//   daemon   unprobe NUMBER SERIAL,...                       these go; unknown ones are left out
//   daemon   probes NUMBER SERIAL,...                        all others go
//   daemon   find NUMBER KIND PLACE                          where that place by name is
//   daemon   profile NUMBER SERIAL PLACE                     the hits of places, from that one of
//            the probe of this serial on
//   feeder   profiled NUMBER
//            lines `SERIAL HITS MISSED FILE PLACE`, by serials; none: that was the last place.
//            PLACE: PATH:OFFSET, or what the kernel repeats of one of its own.
//            FILE: which file has the path now; `-`: there is none; `?`: it is not known.
//            A place of a probe that is leaving has its EVENT at the end of the line
//   feeder   working NUMBER                                  it takes long
//   feeder   found NUMBER
//            the lines of what was found (core/tracing/probe/found_places.h); or refused, as above
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
  unsigned instances = 0;
  std::string event = {};
  std::string text = {};
};
struct Probed {
  std::uint64_t number = 0;
  std::uint64_t serial = 0;
  std::uint32_t id = 0;
  std::string file = "-";
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
struct FindOrder {
  std::uint64_t number = 0;
  char kind = 'p';
  std::string place = {};  // `PATH:FUNCTION`
};
struct Found {
  std::uint64_t number = 0;
  std::string text = {};
};
struct ProfileOrder {
  std::uint64_t number = 0;
  std::uint64_t serial = 0;
  std::uint64_t place = 0;  // how many places of that serial are known
};
struct PlaceHits {
  std::uint64_t serial = 0;
  std::uint64_t hits = 0;
  std::uint64_t missed = 0;
  std::string file = "-";
  std::string place = {};
  std::string leaving = {};  // the event of a probe that is leaving
};
// Bounds the places that one reply has: more than this fit only if their paths are short.
inline constexpr std::size_t kProfiledPlacesMax = 4'096;
struct Profiled {
  std::uint64_t number = 0;
  std::vector<PlaceHits> places = {};
};
struct Working {
  std::uint64_t number = 0;
};

std::string print(const ProbeOrder& order);
std::string print(const Probed& reply);
std::string print(const Refused& reply);
std::string print(const UnprobeOrder& order);
std::string print(const ProbesOrder& order);
std::string print(const FindOrder& order);
std::string print(const Found& reply);
std::string print(const ProfileOrder& order);
// The text has as many of the places as fit.
std::string print(const Profiled& reply);
std::string print(const Working& reply);

// text: what follows the verb and the number. nullopt: it is no such text.
std::optional<ProbeOrder> parse_probe_order(std::uint64_t number, std::string_view text);
std::optional<Probed> parse_probed(std::uint64_t number, std::string_view text);
std::optional<Refused> parse_refused(std::uint64_t number, std::string_view text);
std::optional<std::vector<std::uint64_t>> parse_serials(std::string_view text);
std::optional<FindOrder> parse_find_order(std::uint64_t number, std::string_view text);
std::optional<Found> parse_found(std::uint64_t number, std::string_view text);
std::optional<ProfileOrder> parse_profile_order(std::uint64_t number, std::string_view text);
std::optional<Profiled> parse_profiled(std::uint64_t number, std::string_view text);

}  // namespace tallyfs::wire
