#include "tools/ctl/snapshot.h"

#include "tools/display/change.h"
#include "tools/display/type_lines.h"

namespace tallyfs {

Result<Interfaces> read_all(Source& source) {
  const auto tree = read_tree(source);
  if (!tree) return tree.error();
  Interfaces made;
  for (const auto& each : tree.value().interfaces) {
    auto interface = read_interface(source, each.name);
    if (!interface && interface.error().code == ErrorCode::kNotFound) continue;
    if (!interface) return interface.error();
    made.insert_or_assign(each.name, std::move(interface).value());
  }
  return made;
}

Result<Interfaces> read_end(Source& recording) {
  for (;;) {
    const auto next = recording.next(std::chrono::microseconds(0));
    if (!next) return next.error();
    if (next.value() == Source::Next::kEnd) return read_all(recording);
  }
}

std::string definition_of(const view::Statistic& statistic) {
  std::string text;
  for (const view::Key& key : statistic.definition) {
    if (key.name == "on" || key.name == "name") continue;
    if (view::is_open_end(key.name, key.value)) continue;
    text.append(text.empty() ? "" : " ").append(key.name).append("=").append(key.value);
  }
  return text;
}

bool is_alike(const view::Statistic& a, const view::Statistic& b) {
  return definition_of(a) == definition_of(b);
}

bool append_differences(std::string& out, const Interfaces& a, const Interfaces& b) {
  bool differ = false;
  JsonWriter writer(out);
  writer.begin_object().key("differences").begin_array();
  for_each_of_both(a, b,
                   [&](const std::string& interface, const view::Statistic* was,
                       const view::Statistic* now) {
                     const bool alike = was && now && is_alike(*was, *now);
                     const auto change = alike ? view::change_between(a.at(interface),
                                                                      b.at(interface), now->name)
                                               : view::Change();
                     writer.begin_object().key("interface").string(interface);
                     writer.key("name").string(now ? now->name : was->name);
                     writer.key("in_a").boolean(was != nullptr).key("in_b").boolean(now != nullptr);
                     writer.key("same_definition").boolean(alike).key("samples");
                     if (change.samples)
                       writer.number(*change.samples);
                     else
                       writer.null();
                     writer.key("interval_us").number(change.micros).end_object();
                     differ |= change.samples.value_or(1) != 0;
                   });
  writer.end_array().end_object();
  return differ;
}

}  // namespace tallyfs
