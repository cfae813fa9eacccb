// Compares our reading of event formats and of their `print fmt` with libtraceevent's, for each
// event of a directory events/ of tracefs: what fields there are, and how a record is worded.
//   event_formats EVENTS_DIRECTORY
// Prints a line for each difference and, at the end, how much was compared. The exit status is 1 if
// one of these is found:
//   * a field or a wording that differs, and no entry of kKnownWordings names the reason;
//   * a `print fmt` that we do not compile, and no entry of kNotCompiled names the reason;
//   * an entry of either list that events of this kernel have and that excuses none of them.
// Confined to one thread.
#include <event-parse.h>
#include <trace-seq.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/tracing/print/print_format.h"

namespace tallyfs {
namespace {

namespace fs = std::filesystem;

// Why an event may differ; by a part of its print format.
struct Known {
  std::string_view part;
  std::string_view reason;
};
constexpr Known kKnownWordings[] = {
    {"__print_hex", "libtraceevent reads beyond the end of a dynamic array"},
    {"%*pb", "libtraceevent does not know this conversion"},
    {"__get_bitmask", "libtraceevent prints a list, as the kernel does, from another layout"},
    {"__get_cpumask", "the same"},
    {"vmemmap", "an address that depends on a variable of the kernel: we print '?'"},
    {"jiffies", "a variable of the kernel: we print '?'"},
    {"%pISpc", "no address of a family that is known: we print '?', libtraceevent nothing"},
    {"%-8s", "libtraceevent does not pad"},
    {"{ (1ULL << 63)", "libtraceevent takes the bit for set"},
    {"{ 0u, \"none\" }", "libtraceevent leaves out flags without a bit, the kernel does not"},
    {"1 << REC->alarm_type", "the shift may be wider than the number: C does not define that"},
    {"REC->flags & (0x00040000 |", "libtraceevent computes this mask otherwise"},
    {"BTRFS_ORDERED_", "enumerators without a value in the format: libtraceevent takes them for 0"},
    {"APICV_INHIBIT_REASON_", "the same"},
    {"VMSCAN_THROTTLE_", "the same"},
    {"REC->fallback_order < (", "libtraceevent computes the choice after the comparison"},
    {"REC->stripe_nr - REC->nr_data + 1", "libtraceevent computes a - b + c from the right"},
    {"(void *)REC->ip, REC->fmt", "formats of trace_printk are in the kernel's memory"},
};

// Print formats that we show as `field=value`.
constexpr Known kNotCompiled[] = {
    {"print fmt: \"\"", "nothing to print: the fields say more"},
    {"({ ", "statements within an expression, an extension of C"},
    {"jiffies_to_msecs(", "a function of the kernel"},
    {"mc_event_error_type(", "the same"},
    {"(int)REC->buf[0]", "an element of an array whose length the format does not tell"},
};

struct Totals {
  int events = 0, fields = 0, worded = 0, known = 0, unread = 0, not_compiled = 0;
  int differences = 0;
};

// A list of reasons, and which of them this kernel needs.
class Excuses {
 public:
  Excuses(const char* what, std::span<const Known> list) : what_(what), list_(list) {}

  // Of an event that is as it should be.
  void note_good(std::string_view print) {
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (has(print, i)) seen_[i] = true;
    }
  }
  // False: no entry excuses an event with this print format.
  bool excuse(std::string_view print) {
    bool excused = false;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (!has(print, i)) continue;
      excused = used_[i] = true;
    }
    return excused;
  }
  // Prints the entries that excuse no event, though events have their part; returns their number.
  int report_unused() const {
    int unused = 0;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (!seen_[i] || used_[i]) continue;
      unused += 1;
      std::printf("%s: no event needs the excuse '%s'\n", what_,
                  std::string(list_[i].part).c_str());
    }
    return unused;
  }

 private:
  bool has(std::string_view print, std::size_t i) const {
    return print.find(list_[i].part) != print.npos;
  }

  const char* const what_;
  const std::span<const Known> list_;
  std::vector<bool> seen_ = std::vector<bool>(list_.size());
  std::vector<bool> used_ = std::vector<bool>(list_.size());
};

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A line for a field: what both readers say of it must be the same.
std::string described(std::string_view name, unsigned long offset, unsigned long size,
                      bool is_signed, bool is_array, bool is_dynamic) {
  std::ostringstream out;
  out << name << " at " << offset << ", " << size << " bytes" << (is_signed ? ", signed" : "")
      << (is_array ? ", array" : "") << (is_dynamic ? ", dynamic" : "");
  return out.str();
}

bool is_dynamic(const tracing::TraceField& field) {
  return field.type.find("__data_loc") != std::string::npos ||
         field.type.find("__rel_loc") != std::string::npos;
}

std::string ours(const tracing::TraceField& field) {
  const bool is_array = field.type.find('[') != std::string::npos;
  return described(field.name, field.offset, field.size, field.is_signed, is_array,
                   is_dynamic(field));
}

std::string theirs(const tep_format_field& field) {
  const auto has = [&](unsigned long flag) { return (field.flags & flag) != 0; };
  return described(field.name, static_cast<unsigned long>(field.offset),
                   static_cast<unsigned long>(field.size), has(TEP_FIELD_IS_SIGNED),
                   has(TEP_FIELD_IS_ARRAY), has(TEP_FIELD_IS_DYNAMIC));
}

std::vector<std::string> fields_of(const tep_event& event) {
  std::vector<std::string> all;
  for (auto* each = event.format.common_fields; each; each = each->next) {
    all.push_back(theirs(*each));
  }
  for (auto* each = event.format.fields; each; each = each->next) all.push_back(theirs(*each));
  return all;
}

// A record with a small number in each field, and a text where one belongs. seed: another record.
std::string record_of(const tracing::EventFormat& format, unsigned seed) {
  std::string bytes(format.fixed_bytes(), '\0');
  std::string behind;
  unsigned number = seed;
  for (const tracing::TraceField& field : format.fields) {
    number = number * 29 + 7;
    char* const at = bytes.data() + field.offset;
    if (field.name == "common_type") {
      std::memcpy(at, &format.id, sizeof format.id);
    } else if (is_dynamic(field)) {
      const std::size_t base = field.kind() == tracing::FieldKind::kRelative ? field.end() : 0;
      const std::string content("text\0\0\0\0", 8);
      const auto place = static_cast<std::uint32_t>(bytes.size() + behind.size() - base);
      const std::uint32_t located = place | (field.is_text() ? 5u : 8u) << 16;
      std::memcpy(at, &located, sizeof located);
      behind.append(content);
    } else if (field.kind() == tracing::FieldKind::kText) {
      std::memcpy(at, "abc", std::min<std::size_t>(field.size - 1, 3));
    } else if (field.kind() == tracing::FieldKind::kNumber) {
      const std::uint64_t value = number % 100;
      std::memcpy(at, &value, field.size);
    }
  }
  return bytes + behind;
}

std::string worded_by_us(const tracing::PrintFormat& print, const std::string& bytes) {
  std::string out;
  print.append(out, {.bytes = bytes}, NoSymbols());
  return out;
}

std::string worded_by_them(tep_handle* tep, const std::string& bytes) {
  tep_record record{};
  std::string copy = bytes;
  record.data = copy.data();
  record.size = static_cast<int>(copy.size());
  trace_seq text;
  trace_seq_init(&text);
  tep_print_event(tep, &text, &record, "%s", TEP_PRINT_INFO);
  trace_seq_terminate(&text);
  std::string out(text.buffer, text.len);
  trace_seq_destroy(&text);
  return out;
}

// Pointers are 16 digits to us, as to the kernel, and 0x and less digits to libtraceevent.
std::string comparable(std::string text) {
  static const std::regex kPrefix("\\b(0x0*|0{8}0*)(?=[0-9a-f])");
  text = std::regex_replace(text, kPrefix, "");
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  return text;
}

class Comparison {
 public:
  explicit Comparison(tep_handle* tep) : tep_(tep) {}

  void compare(const std::string& system, const std::string& name, const std::string& text) {
    const std::string where = system + ":" + name;
    totals_.events += 1;
    const auto format = tracing::parse_event_format(text);
    tep_event* event = nullptr;
    const auto failed = tep_parse_format(tep_, &event, text.data(), text.size(), system.c_str());
    if (!format) return differ(where, "we do not read its format: " + format.error().reason);
    if (!event) return differ(where, "libtraceevent does not read its format");
    compare_fields(where, format.value(), *event);
    const auto print = compiled(where, text, format.value());
    // Their reader has not understood the print format: the fields alone are compared.
    if (failed != TEP_ERRNO__SUCCESS ||
        (static_cast<unsigned>(event->flags) & unsigned{TEP_EVENT_FL_FAILED}) != 0) {
      totals_.unread += 1;
    } else if (print) {
      compare_wording(where, print_line(text), format.value(), *print);
    }
  }
  // To be called once, after all events.
  const Totals& finish() {
    totals_.differences += wordings_.report_unused() + not_compiled_.report_unused();
    return totals_;
  }

 private:
  void differ(const std::string& where, const std::string& what) {
    totals_.differences += 1;
    std::printf("%s: %s\n", where.c_str(), what.c_str());
  }

  void compare_fields(const std::string& where, const tracing::EventFormat& format,
                      const tep_event& event) {
    std::vector<std::string> own;
    for (const tracing::TraceField& field : format.fields) own.push_back(ours(field));
    const auto other = fields_of(event);
    for (std::size_t i = 0; i < std::max(own.size(), other.size()); ++i) {
      totals_.fields += 1;
      const std::string a = i < own.size() ? own[i] : "nothing";
      const std::string b = i < other.size() ? other[i] : "nothing";
      if (a != b) differ(where, "field: we read " + a + "; libtraceevent reads " + b);
    }
  }

  std::optional<tracing::PrintFormat> compiled(const std::string& where, const std::string& text,
                                               const tracing::EventFormat& format) {
    auto print = tracing::PrintFormat::compile(text, format);
    if (print) {
      not_compiled_.note_good(print_line(text));
    } else {
      totals_.not_compiled += 1;
      if (!not_compiled_.excuse(print_line(text))) {
        differ(where, "we do not compile its " + std::string(print_line(text)));
      }
    }
    return print;
  }

  void compare_wording(const std::string& where, std::string_view line,
                       const tracing::EventFormat& format, const tracing::PrintFormat& print) {
    totals_.worded += 1;
    for (const unsigned seed : {1u, 2u, 40u}) {
      const std::string bytes = record_of(format, seed);
      const std::string own = comparable(worded_by_us(print, bytes));
      const std::string other = comparable(worded_by_them(tep_, bytes));
      if (own == other) continue;
      totals_.known += 1;
      if (!wordings_.excuse(line)) {
        differ(where, "worded by us '" + own + "', by libtraceevent '" + other + "'");
      }
      return;
    }
    wordings_.note_good(line);
  }

  static std::string_view print_line(std::string_view text) {
    return text.substr(std::min(text.size(), text.find("print fmt:")));
  }

  tep_handle* const tep_;
  Excuses wordings_{"wordings", kKnownWordings};
  Excuses not_compiled_{"not compiled", kNotCompiled};
  Totals totals_;
};

int run(const fs::path& events) {
  tep_handle* const tep = tep_alloc();
  tep_set_long_size(tep, sizeof(long));
  tep_set_file_bigendian(tep, TEP_LITTLE_ENDIAN);
  tep_set_local_bigendian(tep, TEP_LITTLE_ENDIAN);
  tep_set_loglevel(TEP_LOG_NONE);
  Comparison comparison(tep);
  for (const auto& system : fs::directory_iterator(events)) {
    if (!system.is_directory()) continue;
    for (const auto& event : fs::directory_iterator(system)) {
      const fs::path file = event.path() / "format";
      if (!fs::exists(file)) continue;
      comparison.compare(system.path().filename(), event.path().filename(), text_of(file));
    }
  }
  tep_free(tep);
  const Totals& totals = comparison.finish();
  std::printf(
      "# %d events, %d fields, %d wordings compared (%d differ), %d not read by libtraceevent, "
      "%d not compiled by us; %d without a known reason\n",
      totals.events, totals.fields, totals.worded, totals.known, totals.unread, totals.not_compiled,
      totals.differences);
  return totals.events > 0 && totals.differences == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  return tallyfs::run(argv[1]);
}
