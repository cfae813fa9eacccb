#include "core/branch/tracing/excluded_threads.h"

#include <algorithm>

namespace tallyfs {
namespace {

std::uint64_t mask_of(pid_t pid) { return std::uint64_t{1} << (static_cast<unsigned>(pid) % 64); }

}  // namespace

ExcludedThreads::ExcludedThreads(std::vector<pid_t> threads) : threads_(std::move(threads)) {
  std::ranges::sort(threads_);
  for (const pid_t thread : threads_) mask_ |= mask_of(thread);
}

bool ExcludedThreads::excludes(const EventRoute& route, const EventRecord& record) const {
  if (mask_ == 0 || route.subject_at == EventRoute::kNoSubject ||
      record.bytes.size() < route.subject_at + sizeof(pid_t)) {
    return false;
  }
  const auto subject = read_raw<pid_t>(record.bytes.data() + route.subject_at);
  return (mask_ & mask_of(subject)) != 0 && std::ranges::binary_search(threads_, subject);
}

}  // namespace tallyfs
