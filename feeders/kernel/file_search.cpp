#include "feeders/kernel/file_search.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <new>
#include <utility>

#include "core/tracing/probe/function_search.h"
#include "core/tracing/probe/marker_search.h"
#include "core/tracing/probe/probe_line.h"
#include "core/wire/order.h"
#include "program/untrusted/program_file.h"
#include "program/untrusted/renounced_rights.h"

namespace tallyfs {
namespace {

constexpr std::size_t kReplyHeadBytes = 64;

std::string refused(const FileSearch& search, Error error) {
  error.location = tracing::kProbeLocation;
  return print(wire::Refused{search.order.number, std::move(error)});
}

std::string search_files(const FileSearch& search, const tracing::PlaceName& place,
                         const ProgramFiles& files) {
  const auto read = read_program(files);
  if (!read) return refused(search, read.error());
  const tracing::ElfFile& program = read.value().program;
  const auto found = place.is_marker()
                         ? tracing::find_marker(program, place)
                         : tracing::find_function(program, read.value().more(), place);
  if (found) {
    std::string text = tracing::print(found.value());
    if (text.size() + kReplyHeadBytes <= wire::kOrderBytesMax) {
      return print(wire::Found{search.order.number, std::move(text)});
    }
    return refused(search, {ErrorCode::kTooBig, "the places have too many arguments"});
  }
  if (place.is_marker()) return refused(search, found.error());
  Error error = found.error();
  const std::string& fault = read.value().packed_fault;
  if (!fault.empty()) error.reason += "; .gnu_debugdata: " + fault;
  return debug_hint(read.value()) + refused(search, std::move(error));
}

std::string answer_to(const FileSearch& search, const Fd& out) {
  const auto place =
      tracing::parse_place_name(search.order.place, tracing::ProbeKind{search.order.kind});
  if (!place) return refused(search, place.error());
  const auto files = open_program(place.value().path, search.debug_files);
  if (!files) return refused(search, files.error());
  std::vector<int> kept = files.value().descriptors();
  kept.push_back(out.get());
  if (auto done = renounce_rights(std::move(kept), kSearchBounds); !done) {
    return refused(search, done.error());
  }
  try {
    return search_files(search, place.value(), files.value());
  } catch (const std::bad_alloc&) {
    return refused(search, {ErrorCode::kTooBig, "the search needs more than 256 MiB"});
  }
}

}  // namespace

void search_and_end(const FileSearch& search, Fd out) {
  // It ends with the feeder, of whose files it keeps none: it may hang when it opens its own, and
  // would hold the lock of the probes.
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)close_other_files({out.get()});
  write_and_end(answer_to(search, out), out.get());
  ::_exit(1);
}

}  // namespace tallyfs
