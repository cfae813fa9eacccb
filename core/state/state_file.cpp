#include "core/state/state_file.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"

namespace tallyfs {
namespace {

constexpr std::string_view kMagic("tallyfs\x1a", 8);
constexpr std::uint32_t kFileFormat = 1;
constexpr std::string_view kMark = "OBJ:";
constexpr std::uint16_t kEnd = 0;
// Mark, kind, format, bytes of the label, bytes and checksum of the contents.
constexpr std::size_t kHeadBytes = 4 + 2 + 2 + 4 + 4 + 4;

struct Head {
  SavedObject object;  // without its contents
  std::uint32_t size = 0;
  std::uint32_t checksum = 0;
  std::size_t head_bytes = 0;
};

// The head at the beginning of the bytes. Its checksum begins with that of the file's header: what
// looks like a head but is of another file, or was sent by a feeder, is none.
std::optional<Head> find_head(std::string_view bytes, std::uint32_t file) {
  ByteReader in(bytes);
  ByteReader fields(in.take(kHeadBytes));
  if (!in.ok() || fields.take(kMark.size()) != kMark) return std::nullopt;
  Head head;
  head.object.kind = fields.get<std::uint16_t>();
  head.object.format = fields.get<std::uint16_t>();
  const auto label = fields.get<std::uint32_t>();
  head.size = fields.get<std::uint32_t>();
  head.checksum = fields.get<std::uint32_t>();
  if (label > kLabelBytesMax) return std::nullopt;
  head.object.label = in.take(label);
  const std::size_t checked = bytes.size() - in.left();
  const auto checksum = in.get<std::uint32_t>();
  head.head_bytes = bytes.size() - in.left();
  if (!in.ok() || crc32c(bytes.substr(0, checked), file) != checksum) return std::nullopt;
  return head;
}

std::string name_of(const SavedObject& object, std::size_t at) {
  std::string name("the object '");
  name.append(object.label).append("' of kind ").append(std::to_string(object.kind));
  return name.append(" at byte ").append(std::to_string(at));
}

// Goes through the bytes behind the header.
class Objects {
 public:
  // file: the checksum of the header.
  Objects(std::string_view bytes, std::size_t at, std::uint32_t file, StateFile& into)
      : bytes_(bytes), at_(at), id_(file), file_(into) {}

  void read() {
    while (!is_ended_ && at_ < bytes_.size()) {
      if (const auto head = head_here()) {
        take(*head);
      } else {
        skip();
      }
    }
    if (!is_ended_) fault("the file ends without its end mark");
    if (is_ended_ && at_ < bytes_.size()) fault("there is something behind the end mark");
  }

 private:
  std::optional<Head> head_here() const { return find_head(bytes_.substr(at_), id_); }

  void take(const Head& head) {
    const std::size_t began = at_;
    at_ += head.head_bytes;
    SavedObject object = head.object;
    object.bytes = bytes_.substr(at_, head.size);
    at_ += object.bytes.size();
    const bool is_cut = object.bytes.size() < head.size;
    if (!is_cut && crc32c(object.bytes) == head.checksum) return keep(object);
    fault(name_of(object, began).append(is_cut ? " is cut off" : " has wrong bytes"));
  }

  void keep(const SavedObject& object) {
    if (object.kind != kEnd) return file_.objects.push_back(object);
    is_ended_ = true;
    ByteReader in(object.bytes);
    const auto objects = in.get<std::uint64_t>();
    if (in.ok() && objects == file_.objects.size()) return;
    if (!file_.faults.empty()) return;
    fault("the end mark tells of " + std::to_string(objects) + " objects, and there are " +
          std::to_string(file_.objects.size()));
  }

  // To the next place where an object may begin.
  void skip() {
    const std::size_t began = at_;
    do {
      at_ = std::min(bytes_.find(kMark, at_ + 1), bytes_.size());
    } while (at_ < bytes_.size() && !head_here());
    fault("bytes " + std::to_string(began) + " to " + std::to_string(at_) + " are no object");
  }

  void fault(std::string text) { file_.faults.push_back(std::move(text)); }

  const std::string_view bytes_;
  std::size_t at_;
  const std::uint32_t id_;
  StateFile& file_;
  bool is_ended_ = false;
};

Error not_a_state(std::string reason) { return {ErrorCode::kInvalid, std::move(reason)}; }

}  // namespace

StateWriter::StateWriter(const StateHeader& header, std::string& out) : out_(out) {
  const std::size_t begin = out.size();
  ByteWriter to(out);
  out.append(kMagic);
  to.put(kFileFormat);
  for (const std::uint8_t byte : header.boot) to.put(byte);
  to.put(std::int64_t{header.saved.monotonic.count()});
  to.put(std::int64_t{header.saved.realtime.count()});
  file_ = crc32c(std::string_view(out).substr(begin));
  to.put(file_);
}

void StateWriter::begin_object(const SavedObject& object) {
  append_head(object);
  ++objects_;
}

void StateWriter::append_head(const SavedObject& object) {
  const std::size_t begin = out_.size();
  ByteWriter to(out_);
  out_.append(kMark);
  to.put(object.kind);
  to.put(object.format);
  to.put(static_cast<std::uint32_t>(object.label.size()));
  to.put(static_cast<std::uint32_t>(object.bytes.size()));
  to.put(crc32c(object.bytes));
  out_.append(object.label);
  to.put(crc32c(std::string_view(out_).substr(begin), file_));
}

void StateWriter::end() {
  std::string bytes;
  ByteWriter(bytes).put(objects_);
  append_head({.kind = kEnd, .format = 1, .label = {}, .bytes = bytes});
  out_.append(bytes);
}

Result<StateFile> read_state(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.take(kMagic.size()) != kMagic) return not_a_state("this is no state of tallyfs");
  const auto format = in.get<std::uint32_t>();
  StateFile file;
  for (std::uint8_t& byte : file.header.boot) byte = in.get<std::uint8_t>();
  file.header.saved.monotonic = std::chrono::nanoseconds(in.get<std::int64_t>());
  file.header.saved.realtime = std::chrono::nanoseconds(in.get<std::int64_t>());
  const std::size_t checked = bytes.size() - in.left();
  const auto checksum = in.get<std::uint32_t>();
  if (!in.ok() || crc32c(bytes.substr(0, checked)) != checksum) {
    return not_a_state("its header is broken");
  }
  if (format != kFileFormat) {
    return not_a_state("it has the format " + std::to_string(format) + ", not " +
                       std::to_string(kFileFormat));
  }
  Objects(bytes, bytes.size() - in.left(), checksum, file).read();
  return file;
}

}  // namespace tallyfs
