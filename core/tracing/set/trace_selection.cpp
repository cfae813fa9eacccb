#include "core/tracing/set/trace_selection.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>

#include "core/base/text.h"
#include "core/tracing/command/faults.h"

namespace tallyfs::tracing {
namespace {

constexpr std::size_t kMaskCpusMax = 8192;
// Linux assigns no larger process ids: proc(5), kernel/pid_max.
constexpr std::uint64_t kPidMax = (1u << 22) - 1;

char to_lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Parses a mask, whose last word is that of the first 32 CPUs; nullopt: the text is no mask.
std::optional<std::vector<bool>> parse_mask(std::string_view text) {
  std::vector<bool> cpus;
  unsigned digits = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ',' && digits > 0 && digits <= 8) {
      cpus.resize((cpus.size() + 31) / 32 * 32);
      digits = 0;
      continue;
    }
    const std::size_t value = std::string_view("0123456789abcdef").find(to_lower(text[i]));
    if (value == std::string_view::npos || ++digits > 8 || cpus.size() > kMaskCpusMax) return {};
    for (unsigned bit = 0; bit < 4; ++bit) cpus.push_back((value >> bit & 1) != 0);
  }
  if (digits == 0) return std::nullopt;
  return cpus;
}

}  // namespace

std::string TraceSelection::text(const Pids& pids) {
  std::string text;
  for (const std::int32_t pid : pids) text.append(std::to_string(pid)).append("\n");
  return text;
}

Result<void> TraceSelection::add_pids(List& to, std::string_view file,
                                      std::string_view text) const {
  Pids pids = to.pids;
  Tokens tokens(text);
  while (const auto token = tokens.next()) {
    const auto pid = parse_unsigned(token->text);
    if (!pid || *pid > kPidMax) {
      return Fault{fault::kBadPid, std::string(token->text)}.in(std::string(file),
                                                                std::string(text));
    }
    const auto number = static_cast<std::int32_t>(*pid);
    const auto at = std::ranges::lower_bound(pids, number);
    if (at == pids.end() || *at != number) pids.insert(at, number);
    if (pids.size() > pids_max_) {
      return Fault{fault::kTooManyPids, std::string(token->text), ErrorCode::kNoSpace}.in(
          std::string(file), std::string(text));
    }
  }
  to.is_set = to.is_set || !pids.empty();
  to.pids = std::move(pids);
  return {};
}

Result<void> TraceSelection::write_pids(std::string_view text) {
  return add_pids(traced_, "set_event_pid", text);
}

Result<void> TraceSelection::write_notrace_pids(std::string_view text) {
  return add_pids(left_out_, "set_event_notrace_pid", text);
}

void TraceSelection::add_child(std::int32_t parent, std::int32_t child) {
  for (List* const list : {&traced_, &left_out_}) {
    Pids& pids = list->pids;
    std::erase(list->ended, child);
    if (!std::ranges::binary_search(pids, parent) || pids.size() == pids_max_) continue;
    const auto at = std::ranges::lower_bound(pids, child);
    if (at == pids.end() || *at != child) pids.insert(at, child);
  }
}

void TraceSelection::remove(std::int32_t pid) {
  for (List* const list : {&traced_, &left_out_}) {
    const auto at = std::ranges::lower_bound(list->pids, pid);
    if (at == list->pids.end() || *at != pid) continue;
    list->pids.erase(at);
    if (list->ended.size() == pids_max_) list->ended.erase(list->ended.begin());
    list->ended.push_back(pid);
  }
}

std::string TraceSelection::cpumask_text(const Cpus& left_out, std::uint32_t cpus) {
  std::string text;
  const std::uint32_t digits = (cpus + 3) / 4;
  for (std::uint32_t digit = digits; digit-- > 0;) {
    unsigned value = 0;
    for (std::uint32_t bit = 0; bit < 4; ++bit) {
      const std::uint32_t cpu = 4 * digit + bit;
      if (cpu < cpus && (cpu >= left_out.size() || !left_out[cpu])) value |= 1u << bit;
    }
    text.push_back("0123456789abcdef"[value]);
    if (digit > 0 && digit % 8 == 0) text.push_back(',');
  }
  return text + "\n";
}

Result<void> TraceSelection::write_cpumask(std::string_view text, std::uint32_t cpus) {
  text = trimmed(text);
  auto mask = parse_mask(text);
  const auto is_beyond = [cpus](const Cpus& all) {
    const auto end =
        all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(cpus, all.size()));
    return std::find(end, all.end(), true) != all.end();
  };
  if (!mask || is_beyond(*mask)) {
    return Fault{fault::kBadMask}.in("tracing_cpumask", std::string(text));
  }
  mask->resize(cpus);
  mask->flip();
  left_out_cpus_ = std::move(*mask);
  return {};
}

void TraceSelection::save(ByteWriter& out, const List& list) {
  out.put(std::uint8_t{list.is_set});
  out.put(static_cast<std::uint32_t>(list.pids.size()));
  for (const std::int32_t pid : list.pids) out.put(pid);
}

void TraceSelection::save(ByteWriter& out) const {
  save(out, traced_);
  save(out, left_out_);
  out.put(static_cast<std::uint32_t>(left_out_cpus_.size()));
  for (const bool cpu : left_out_cpus_) out.put(std::uint8_t{cpu});
}

void TraceSelection::load(ByteReader& in, List& list) const {
  const bool is_set = in.get_flag();
  const auto size = in.get<std::uint32_t>();
  if (size > pids_max_ || (size != 0 && !is_set)) return in.fail();
  list = {.is_set = is_set, .pids = {}, .ended = {}};
  std::int32_t last = -1;
  for (std::uint32_t i = 0; i < size && in.ok(); ++i) {
    const auto pid = in.get<std::int32_t>();
    if (pid <= last) return in.fail();
    last = pid;
    list.pids.push_back(pid);
  }
}

void TraceSelection::load(ByteReader& in, std::uint32_t cpus) {
  load(in, traced_);
  load(in, left_out_);
  const auto size = in.get<std::uint32_t>();
  if (size > kMaskCpusMax) return in.fail();
  left_out_cpus_.clear();
  for (std::uint32_t i = 0; i < size && in.ok(); ++i) {
    const bool is_left_out = in.get_flag();
    if (i < cpus) left_out_cpus_.push_back(is_left_out);
  }
}

void TraceSelection::end_all() {
  for (List* const list : {&traced_, &left_out_}) list->pids.clear();
}

}  // namespace tallyfs::tracing
