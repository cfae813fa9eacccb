#include "tools/ctl/recorder.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/ctl/commands.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs {

Result<void> Recorder::write_header() {
  const auto json = session_.source->tree();
  if (!json) return json.error();
  std::string line;
  JsonWriter writer(line);
  writer.begin_object().key("tallyctl").string(TALLYFS_VERSION);
  writer.key("every_us").number(session_.period().count());
  for (std::size_t i = 0; i < json.value().keys.size(); ++i) {
    writer.key(json.value().keys[i]);
    write_json(writer, json.value().items[i]);
  }
  writer.end_object();
  write(line);
  has_header_ = true;
  return {};
}

Result<void> Recorder::write_moment() {
  const auto done = write_moved();
  if (packer_) write_bytes(packer_->add(std::exchange(lines_, {})));
  return done;
}

void Recorder::end() {
  if (packer_ && !status_) write_bytes(packer_->end());
}

Result<void> Recorder::write_moved() {
  if (!has_header_) {
    if (auto done = write_header(); !done) return done;
  }
  const auto tree = read_tree(*session_.source);
  if (!tree) return tree.error();
  // Another daemon's serials are others.
  if (std::exchange(epoch_, tree.value().epoch) != tree.value().epoch) serials_.clear();
  for (const auto& each : tree.value().interfaces) {
    if (ends()) return {};
    const auto known = serials_.find(each.name);
    if (known != serials_.end() && known->second == each.serial) continue;
    const auto json = session_.source->interface(each.name);
    if (!json && json.error().code == ErrorCode::kNotFound) continue;  // removed meanwhile
    if (!json) return json.error();
    std::string line;
    JsonWriter writer(line);
    write_json(writer, json.value());
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
