#include "tests/unit/stats3_blob/golden.h"

#include <fstream>
#include <regex>
#include <sstream>

#include "core/stats3/blob/text.h"

namespace tallyfs::stats3::blob {
namespace {

std::uint32_t flags_of(const std::string& text) {
  std::uint32_t flags = 0;
  if (text.find("LB") != text.npos || text.find("LBOUND") != text.npos)
    flags |= VSD_HIST_LBOUND_INF;
  if (text.find("UB") != text.npos || text.find("UBOUND") != text.npos)
    flags |= VSD_HIST_UBOUND_INF;
  return flags;
}

std::int64_t integer(const std::string& text) {
  return text.starts_with('-') ? std::stoll(text)
                               : static_cast<std::int64_t>(std::stoull(text, nullptr, 0));
}

// By commas outside of parentheses and braces.
std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += (c == '(' || c == '{') - (c == ')' || c == '}');
    if (c == at && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void append_usr(Specs& specs, vsd_dtype dtype, const std::vector<std::string>& args) {
  std::vector<std::array<std::int64_t, 2>> bounds;
  for (const std::string& arg : args) {
    if (!arg.starts_with('{')) continue;
    const auto numbers = split(arg.substr(1, arg.size() - 2), ',');
    const bool ranges = dtype == VSD_DTYPE_DRHIST32 || dtype == VSD_DTYPE_DRHIST64;
    if (ranges) {
      bounds.push_back({integer(numbers.at(0)), integer(numbers.at(1))});
    } else {
      for (const std::string& number : numbers)
        bounds.push_back({integer(number), integer(number)});
    }
  }
  specs.usr(dtype, flags_of(args.back()), bounds);
}

void append_spec(Specs& specs, const std::string& spec) {
  std::smatch parts;
  static const std::regex kMacro(R"((\w+?)(?:_(LIN|EXP|LINEXP|USR))?\((.*)\))");
  if (spec == "SUM" || spec == "SUM()") return void(specs.sum());
  if (spec == "MAX" || spec == "MAX()") return void(specs.max());
  if (spec == "MIN" || spec == "MIN()") return void(specs.min());
  if (!std::regex_match(spec, parts, kMacro)) throw std::runtime_error("no spec: " + spec);
  const vsd_dtype dtype = dtype_of(parts[1]);
  const auto args = split(parts[3], ',');
  const auto arg = [&](std::size_t i) { return integer(args.at(i)); };
  if (parts[2] == "USR") return append_usr(specs, dtype, args);
  if (parts[2] == "LIN")
    return void(specs.lin(dtype, arg(0), arg(1), arg(2), flags_of(args.at(3))));
  const auto u = [&](std::size_t i) { return static_cast<std::uint64_t>(arg(i)); };
  if (parts[2] == "EXP")
    return void(specs.exp(dtype, arg(0), arg(1), u(2), u(3), flags_of(args.at(4))));
  if (parts[2] == "LINEXP")
    return void(specs.linexp(dtype, arg(0), arg(1), u(2), u(3), flags_of(args.at(4))));
  specs.digest(dtype, static_cast<std::uint32_t>(arg(0)), static_cast<std::uint32_t>(arg(1)));
}

}  // namespace

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

long long number_after(const std::string& line, const std::string& key) {
  return std::stoll(line.substr(line.find(key) + key.size()));
}

std::string word_after(const std::string& line, const std::string& key) {
  const std::size_t at = line.find(key) + key.size();
  return line.substr(at, line.find(' ', at) - at);
}

void NamedSpecs::define(const std::string& line) {
  static const std::regex kNamed(R"(^(\w+)=(.*)$)");
  unnamed_.clear();
  for (const std::string& word : split(line.substr(line.find("vss ") + 4), ' ')) {
    std::smatch parts;
    if (std::regex_match(word, parts, kNamed)) {
      named_[parts[1]] = parts[2];
    } else {
      for (const std::string& spec : split(word, ',')) unnamed_.push_back(spec);
    }
  }
}

void NamedSpecs::append(Specs& specs, const std::string& wanted) const {
  if (const auto found = named_.find(wanted); found != named_.end()) {
    for (const std::string& spec : split(found->second, '+')) append_spec(specs, spec);
    return;
  }
  for (const std::string& kind : split(wanted, '_')) {
    const auto fits = [&](const std::string& spec) {
      return kind == "HIST"    ? spec.find("HIST") != spec.npos
             : kind == "TDGST" ? spec.find("TDGST") != spec.npos
                               : spec == kind;
    };
    const auto found = std::find_if(unnamed_.begin(), unnamed_.end(), fits);
    append_spec(specs, found == unnamed_.end() ? kind : *found);
  }
}

vsd_dtype dtype_of(const std::string& name) {
  for (unsigned i = 0; i < VSD_NUM_DTYPES; ++i) {
    if (name == name_of_dtype(i)) return static_cast<vsd_dtype>(i);
  }
  throw std::runtime_error("no dtype: " + name);
}

int update(statsblob* sb, const std::string& how, const std::string& type, int voi,
           const std::string& value) {
  const bool abs = how == "abs";
  const std::int64_t v = integer(value);
  const auto u = static_cast<std::uint64_t>(v);
#define TALLY_CALL(name, given)                              \
  if (type == #name)                                         \
    return abs ? stats_voi_update_abs_##name(sb, voi, given) \
               : stats_voi_update_rel_##name(sb, voi, given);
  TALLY_CALL(s32, static_cast<std::int32_t>(v))
  TALLY_CALL(u32, static_cast<std::uint32_t>(u))
  TALLY_CALL(s64, v)
  TALLY_CALL(u64, u)
  TALLY_CALL(slong, v)
  TALLY_CALL(ulong, u)
  TALLY_CALL(sq32, static_cast<s32q_t>(v))
  TALLY_CALL(uq32, static_cast<u32q_t>(u))
  TALLY_CALL(sq64, v)
  TALLY_CALL(uq64, u)
#undef TALLY_CALL
  throw std::runtime_error("no type: " + type);
}

}  // namespace tallyfs::stats3::blob
