// stats_tpl_sample_rates() and stats_tpl_sample_rollthedice(): rates.h for C.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "core/stats3/blob/rates.h"
#include "core/stats3/blob/templates.h"

namespace tallyfs::stats3::blob {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// Does what FreeBSD's SYSCTL_OUT does: copies as many bytes as fit, and counts all of them.
int put_old(sysctl_req& request, std::string_view bytes) {
  if (request.oldptr) {
    const std::size_t room = request.oldlen > request.oldidx ? request.oldlen - request.oldidx : 0;
    std::memcpy(static_cast<char*>(request.oldptr) + request.oldidx, bytes.data(),
                std::min(room, bytes.size()));
    if (bytes.size() > room) {
      request.oldidx += room;
      return ENOMEM;
    }
  }
  request.oldidx += bytes.size();
  return 0;
}

int find_template(std::optional<std::string_view> name, std::uint32_t hash) {
  const auto named = name ? std::optional<std::string>(*name) : std::nullopt;
  return Templates::of_process().find(named ? named->c_str() : nullptr, hash);
}

// The size that the text may have: FreeBSD's answer to a call without memory for it.
int probe(stats_tpl_sr_cb_t callback, void* context, sysctl_req& request) {
  constexpr std::size_t kRateBytesMax = 82;
  stats_tpl_sample_rate* rates = nullptr;
  int count = 0;
  if (const int error = callback(TPL_SR_UNLOCKED_GET, &rates, &count, context)) return error;
  request.oldidx += count > 0 ? static_cast<std::size_t>(count) * kRateBytesMax : 1;
  return 0;
}

int show(stats_tpl_sr_cb_t callback, void* context, sysctl_req& request) {
  if (!request.oldptr && !request.newptr) return probe(callback, context, request);
  Rates copy;
  if (const int error = copy_rates(callback, context, copy)) return error;
  const std::string text =
      print_rates(copy, [](std::int32_t id) { return Templates::of_process().spec(id); });
  return put_old(request, {text.c_str(), text.size() + 1});
}

int change(stats_tpl_sr_cb_t callback, void* context, sysctl_req& request) {
  std::string_view text(static_cast<const char*>(request.newptr) + request.newidx,
                        request.newlen - request.newidx);
  text = text.substr(0, text.find('\0'));
  const auto parsed = parse_rates(text, &find_template);
  if (!parsed) return parsed.error().code == ErrorCode::kNoTemplate ? ESRCH : EINVAL;
  const Rates& wanted = parsed.value();
  stats_tpl_sample_rate* rates = nullptr;
  if (!wanted.empty()) {
    rates = static_cast<stats_tpl_sample_rate*>(std::malloc(wanted.size() * sizeof wanted[0]));
    if (!rates) return ENOMEM;
    std::memcpy(rates, wanted.data(), wanted.size() * sizeof wanted[0]);
  }
  int count = static_cast<int>(wanted.size());
  const int error = callback(TPL_SR_PUT, &rates, &count, context);
  // The old ones, or ours if they were not taken.
  std::free(rates);
  if (error == 0) request.newidx = request.newlen;
  return error;
}

}  // namespace

int copy_rates(stats_tpl_sr_cb_t callback, void* context, Rates& copy) {
  stats_tpl_sample_rate* rates = nullptr;
  int count = 0;
  if (const int error = callback(TPL_SR_RLOCKED_GET, &rates, &count, context)) return error;
  struct Unlock {
    stats_tpl_sr_cb_t callback;
    stats_tpl_sample_rate** rates;
    int* count;
    void* context;
    ~Unlock() { callback(TPL_SR_RUNLOCK, rates, count, context); }
  } const unlock{callback, &rates, &count, context};
  if (rates && count > 0) copy.assign(rates, rates + count);
  return 0;
}

}  // namespace tallyfs::stats3::blob

using namespace tallyfs::stats3::blob;

int stats_tpl_sample_rates(struct sysctl_oid*, void* arg1, intmax_t arg2,
                           struct sysctl_req* req) try {
  if (!arg1 || !req || arg2 < 0) return EINVAL;
  const auto callback = reinterpret_cast<stats_tpl_sr_cb_t>(arg1);
  const std::unique_ptr<void, Free> context(
      arg2 == 0 ? nullptr : std::calloc(1, static_cast<std::size_t>(arg2)));
  if (arg2 != 0 && !context) return ENOMEM;
  if (const int error = show(callback, context.get(), *req)) return error;
  return req->newptr ? change(callback, context.get(), *req) : 0;
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int stats_tpl_sample_rollthedice(struct stats_tpl_sample_rate* rates, int nrates, void* seed_bytes,
                                 size_t seed_len) {
  if (!rates || nrates <= 0) return -1;
  const unsigned hundredth =
      seed_bytes ? hundredth_of_seed({static_cast<const char*>(seed_bytes), seed_len})
                 : random_hundredth();
  return choose(rates, static_cast<std::size_t>(nrates), hundredth);
}
