#include "tools/ctl/recorder.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/ctl/commands.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs {

void Recorder::write_header(const Json& tree) {
  std::string line;
  JsonWriter writer(line);
  writer.begin_object().key("tallyctl").string(TALLYFS_VERSION);
  writer.key("every_us").number(session_.period().count());
  for (std::size_t i = 0; i < tree.keys.size(); ++i) {
    writer.key(tree.keys[i]);
    write_json(writer, tree.items[i]);
  }
  writer.end_object();
  write(line);
  has_header_ = true;
}

Result<void> Recorder::write_timestamp() {
  const auto done = write_moved();
  if (packer_) write_bytes(packer_->add(std::exchange(lines_, {})));
  return done;
}

void Recorder::end() {
  if (packer_ && !status_) write_bytes(packer_->end());
}

Result<void> Recorder::write_moved() {
  const auto json = session_.source->tree();
  if (!json) return json.error();
  const auto tree = named_tree(json.value());
  if (!tree) return tree.error();
  if (!has_header_) write_header(json.value());
  // Another daemon's serials are others.
  if (std::exchange(epoch_, tree.value().epoch) != tree.value().epoch) serials_.clear();
  for (const auto& each : tree.value().interfaces) {
    if (ends()) return {};
    const auto known = serials_.find(each.name);
    if (known != serials_.end() && known->second == each.serial) continue;
    const auto data = session_.source->interface(each.name);
    if (!data && data.error().code == ErrorCode::kNotFound) continue;  // removed meanwhile
    if (!data) return data.error();
    std::string line;
    JsonWriter writer(line);
    write_json(writer, data.value());
    write(line);
    serials_[each.name] = each.serial;
  }
  return {};
}

// Packed it is not larger.
void Recorder::write(std::string& line) {
  line.append("\n");
  if (size_ + lines_.size() + line.size() > size_max_) {
    is_full_ = true;
  } else if (packer_) {
    lines_.append(line);
  } else {
    write_bytes(line);
  }
}

void Recorder::write_bytes(std::string_view bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t done = ::write(file_.get(), bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      status_ = complain(kRefused, std::string("cannot write: ") + std::strerror(errno));
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

}  // namespace tallyfs
