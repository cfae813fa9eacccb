#include "feeders/client/last_error.h"

#include <array>

#include "core/wire/errno.h"

namespace tallyfs {
namespace {

thread_local std::array<char, kReasonBytes + 1> t_reason{};

}  // namespace

int fail_with(int error, std::string_view reason) {
  const std::string_view kept = reason.substr(0, kReasonBytes);
  t_reason[kept.copy(t_reason.data(), kReasonBytes)] = '\0';
  return -error;
}

int fail_with(const Error& error) { return fail_with(wire::to_errno(error.code), error.reason); }

const char* last_error() { return t_reason.data(); }

}  // namespace tallyfs
