#include "tools/ctl/recorder.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/ctl/commands.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs {

std::optional<int> Recorder::write_header() {
  const auto json = session_.source->tree();
  if (!json) return complain(json.error());
  std::string line;
  JsonWriter writer(line);
  writer.begin_object().key("tallyctl").string(TALLYFS_VERSION);
  writer.key("every_us").number(session_.options.period().count());
  for (std::size_t i = 0; i < json.value().keys.size(); ++i) {
    writer.key(json.value().keys[i]);
    write_json(writer, json.value().items[i]);
  }
  writer.end_object();
  return write(line);
}

std::optional<int> Recorder::write_moment() {
  const auto tree = read_tree(*session_.source);
  if (!tree) return complain(tree.error());
  for (const auto& each : tree.value().interfaces) {
    const auto known = serials_.find(each.name);
    if (known != serials_.end() && known->second == each.serial) continue;
    const auto json = session_.source->interface(each.name);
    if (!json && json.error().code == ErrorCode::kNotFound) continue;  // removed meanwhile
    if (!json) return complain(json.error());
    std::string line;
    JsonWriter writer(line);
    write_json(writer, json.value());
    if (const auto status = write(line)) return status;
    if (is_full_ || is_interrupted_()) return std::nullopt;
    serials_[each.name] = each.serial;
  }
  return std::nullopt;
}

std::optional<int> Recorder::write(std::string& line) {
  line.append("\n");
  if (size_ + line.size() > size_max_) {
    is_full_ = true;
    return std::nullopt;
  }
  size_ += line.size();
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t done = ::write(file_.get(), rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return complain(kRefused, std::string("cannot write: ") + std::strerror(errno));
    rest.remove_prefix(static_cast<std::size_t>(done));
  }
  return std::nullopt;
}

}  // namespace tallyfs
