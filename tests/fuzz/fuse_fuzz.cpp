// The whole FUSE layer, without a mount: requests as the kernel makes them, in any order, of nodes
// and handles that there are and that there are not, while the socket brings and removes what they
// are about. Each answer is well-formed, a handle reads what it read at its open, nothing is left
// at the end, and the next open shows what there is.
//
// The input is a byte of capabilities and then operations: a byte each, and what it takes.
#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "tests/fuzz/fuse_kernel.h"
#include "tests/fuzz/intake_stand.h"

namespace tally::fuzz {
namespace {

constexpr std::size_t kOperations = 200;
constexpr std::size_t kReadBytesMax = 128 * 1024;
constexpr Handles::Limits kLimits{.files_per_uid = 6, .bytes_per_uid = 128 * 1024};
constexpr std::array<uid_t, 3> kUids = {0, 1000, 1001};

// What the socket holds until somebody settles.
class Pending final : public Barrier {
 public:
  explicit Pending(IntakeStand& stand) : stand_(stand) {}
  void push(std::string_view text, uid_t uid) { waiting_.emplace_back(text, uid); }
  void settle() override {
    while (!waiting_.empty()) {
      const auto [text, uid] = std::move(waiting_.front());
      waiting_.pop_front();
      stand_.take(text, uid, 1, IntakeStand::Pace::kAtOnce);
    }
  }

 private:
  IntakeStand& stand_;
  std::deque<std::pair<std::string, uid_t>> waiting_;
};

struct Held {
  std::uint64_t handle = 0;
  std::uint64_t node = 0;
  std::uint32_t flags = 0;
  std::optional<std::string> text;  // if it can be read
};

class Drive {
 public:
  Drive(const Line& line, std::uint8_t how)
      : stand_(line), kernel_(operations_, how & 1 ? ~0u : how * 0x01010101u) {
    const NodeId tracing = stand_.tree.add_directory(
        Tree::kRoot, "tracing", std::make_shared<Directory>(), stand_.clock.now());
    // Of the stand's, which lives longer.
    stand_.tree.add_file(tracing, "error_log", 0640,
                         std::shared_ptr<ErrorLog>(std::shared_ptr<void>(), &stand_.errors),
                         stand_.clock.now());
    if (!(how & 2)) return;
    notifier_.emplace(kernel_.session());
    operations_.notify_through(&*notifier_);
    stand_.tree.observe(&*notifier_);
  }
  ~Drive() {
    if (!notifier_) return;
    notifier_->stop();
    stand_.tree.observe(nullptr);
    operations_.notify_through(nullptr);
  }

  void take_operation(Input& input);
  void check_end();

 private:
  Kernel::Answer ask(std::uint32_t opcode, std::uint64_t node, std::string body = {}) {
    return kernel_.ask({.opcode = opcode, .node = node, .uid = uid_, .body = std::move(body)});
  }
  std::uint64_t draw_node(Input& input);
  std::string draw_name(Input& input);
  std::uint64_t draw_handle(Input& input);
  Held* find(std::uint64_t handle);

  void lookup(std::uint64_t node, const std::string& name);
  void getattr(std::uint64_t node, Input& input);
  void setattr(std::uint64_t node, Input& input);
  void open(std::uint64_t node, std::uint32_t flags);
  std::string read_all(std::uint64_t node, std::uint64_t handle);
  void read(std::uint64_t node, Input& input);
  void write(std::uint64_t node, Input& input);
  void release(std::uint64_t handle);
  void list(std::uint32_t opcode, std::uint64_t node, Input& input);
  void check_entry(std::string_view name, const fuse_dirent& entry, std::uint64_t& last) const;
  void handle_operation(unsigned which, std::uint64_t node, Input& input);
  void name_operation(unsigned which, std::uint64_t node, Input& input);
  void raw_operation(Input& input);
  void check_no_handle_is_left();
  void check_reads();

  IntakeStand stand_;
  Pending pending_{stand_};
  Operations operations_{
      {stand_.tree, stand_.errors, stand_.statistics->own(), pending_, stand_.clock},
      {0, 0},
      kLimits};
  Kernel kernel_;
  std::optional<Notifier> notifier_;
  uid_t uid_ = 0;
  std::vector<std::uint64_t> nodes_ = {Tree::kRoot};
  std::vector<Held> held_;
};

// One that the daemon told of, or (from 0x80) any.
std::uint64_t Drive::draw_node(Input& input) {
  const std::uint8_t which = input.byte();
  return which & 0x80 ? input.number(1 + (which & 7)) : nodes_[which % nodes_.size()];
}

std::string Drive::draw_name(Input& input) {
  constexpr std::array kNames = {"statistics", "tracing", "error_log", "web", "data",
                                 "definition", "tallyfs", "db",        ".",   ".."};
  const std::uint8_t which = input.byte();
  if (which < kNames.size()) return kNames[which];
  std::string name(input.text(which));
  if (which == 0xff) name.resize(300, 'x');
  return name.substr(0, name.find('\0'));
}

std::uint64_t Drive::draw_handle(Input& input) {
  const std::uint8_t which = input.byte();
  if (which & 0x80 || held_.empty()) return input.number(1 + (which & 7));
  return held_[which % held_.size()].handle;
}

Held* Drive::find(std::uint64_t handle) {
  const auto found = std::find_if(held_.begin(), held_.end(),
                                  [handle](const Held& held) { return held.handle == handle; });
  return found == held_.end() ? nullptr : &*found;
}

void Drive::lookup(std::uint64_t node, const std::string& name) {
  const auto answer = ask(FUSE_LOOKUP, node, name + '\0');
  if (!answer.ok()) return;
  const auto entry = value_of<fuse_entry_out>(answer.body);
  must(entry.nodeid != 0 && entry.nodeid == entry.attr.ino, "a node");
  must(entry.attr.uid == 0 && (entry.attr.mode & 07022) == 0, "the owner's alone to write");
  if (std::find(nodes_.begin(), nodes_.end(), entry.nodeid) == nodes_.end()) {
    nodes_.push_back(entry.nodeid);
  }
}

void Drive::getattr(std::uint64_t node, Input& input) {
  const std::uint32_t flags = input.byte() & 1 ? FUSE_GETATTR_FH : 0;
  const std::uint64_t handle = flags ? draw_handle(input) : 0;
  const auto answer = ask(FUSE_GETATTR, node, bytes_of(fuse_getattr_in{flags, 0, handle}));
  const Held* const held = flags ? find(handle) : nullptr;
  if (!held || !held->text) return;
  must(answer.ok(), "an open handle has attributes");
  must(value_of<fuse_attr_out>(answer.body).attr.size == held->text->size(), "its text's size");
}

void Drive::setattr(std::uint64_t node, Input& input) {
  fuse_setattr_in wanted{};
  wanted.valid = static_cast<std::uint32_t>(input.number(2));
  wanted.fh = draw_handle(input);
  wanted.size = input.byte() & 1 ? input.number(8) : 0;
  wanted.mode = static_cast<std::uint32_t>(input.number(2));
  wanted.uid = wanted.gid = input.byte();
  (void)ask(FUSE_SETATTR, node, bytes_of(wanted));
}

std::string Drive::read_all(std::uint64_t node, std::uint64_t handle) {
  std::string text;
  for (;;) {
    fuse_read_in wanted{};
    wanted.fh = handle;
    wanted.offset = text.size();
    wanted.size = kReadBytesMax;
    const auto answer = ask(FUSE_READ, node, bytes_of(wanted));
    must(answer.ok(), "what was opened for reading reads");
    if (answer.body.empty()) return text;
    text += answer.body;
  }
}

void Drive::open(std::uint64_t node, std::uint32_t flags) {
  const auto answer = ask(FUSE_OPEN, node, bytes_of(fuse_open_in{flags, 0}));
  if (!answer.ok()) return;
  const auto opened = value_of<fuse_open_out>(answer.body);
  must(opened.open_flags & FOPEN_DIRECT_IO, "nothing is cached");
  must(!find(opened.fh), "no handle is given out twice");
  Held held{.handle = opened.fh, .node = node, .flags = flags, .text = {}};
  if ((flags & O_ACCMODE) != O_WRONLY) held.text = read_all(node, opened.fh);
  held_.push_back(std::move(held));
}

void Drive::read(std::uint64_t node, Input& input) {
  fuse_read_in wanted{};
  wanted.fh = draw_handle(input);
  wanted.offset = input.number(input.byte() % 9);
  wanted.size = static_cast<std::uint32_t>(input.number(3) % (kReadBytesMax + 1));
  const auto answer = ask(FUSE_READ, node, bytes_of(wanted));
  must(answer.body.size() <= wanted.size, "no more than asked for");
  const Held* const held = find(wanted.fh);
  if (!held || !held->text) return;
  const std::string& text = *held->text;
  must(answer.ok() && answer.body == text.substr(std::min<std::size_t>(wanted.offset, text.size()),
                                                 wanted.size),
       "a handle's text is that of its open");
}

void Drive::write(std::uint64_t node, Input& input) {
  const std::uint64_t handle = draw_handle(input);
  const std::uint8_t how = input.byte();
  // Many times over, so that the bounds of a line can be reached.
  const std::string once(input.until('\x1e'));
  std::string text;
  const std::size_t times = how & 1 ? 1u + input.byte() : 1;
  for (std::size_t i = 0; i < times && text.size() <= protocol::kMaxWriteBytes; ++i) text += once;
  text.resize(std::min<std::size_t>(text.size(), protocol::kMaxWriteBytes));
  fuse_write_in wanted{};
  wanted.fh = handle;
  wanted.offset = how & 2 ? input.number(8) : how & 4 ? input.number(2) : 0;
  wanted.size = static_cast<std::uint32_t>(text.size());
  const auto answer = ask(FUSE_WRITE, node, bytes_of(wanted) + text);
  if (answer.ok()) {
    must(value_of<fuse_write_out>(answer.body).size == text.size(), "a write is whole");
  }
}

void Drive::release(std::uint64_t handle) {
  const auto answer = ask(FUSE_RELEASE, Tree::kRoot, bytes_of(fuse_release_in{handle, 0, 0, 0}));
  must(answer.ok(), "release cannot fail");
  std::erase_if(held_, [handle](const Held& held) { return held.handle == handle; });
}

void Drive::check_entry(std::string_view name, const fuse_dirent& entry,
                        std::uint64_t& last) const {
  must(!name.empty() && name.find('/') == std::string_view::npos &&
           name.find('\0') == std::string_view::npos,
       "a name");
  must(entry.ino != 0 && (entry.type == DT_DIR || entry.type == DT_REG), "of a file or directory");
  must(entry.off > last, "cookies go up");
  last = entry.off;
}

void Drive::list(std::uint32_t opcode, std::uint64_t node, Input& input) {
  fuse_read_in wanted{};
  wanted.offset = input.number(input.byte() % 9);
  wanted.size = static_cast<std::uint32_t>(input.number(2) * 2);
  const auto answer = ask(opcode, node, bytes_of(wanted));
  must(answer.body.size() <= wanted.size, "no more than asked for");
  const std::size_t before = opcode == FUSE_READDIRPLUS ? sizeof(fuse_entry_out) : 0;
  std::uint64_t last = static_cast<std::int64_t>(wanted.offset) < 0 ? 0 : wanted.offset;
  for (std::string_view rest = answer.body; !rest.empty();) {
    must(rest.size() >= before + FUSE_NAME_OFFSET, "whole entries");
    const auto plus = value_of<fuse_entry_out>(rest.substr(0, before));
    rest.remove_prefix(before);
    const auto entry = value_of<fuse_dirent>(rest.substr(0, FUSE_NAME_OFFSET));
    must(FUSE_NAME_OFFSET + entry.namelen <= rest.size(), "with whole names");
    check_entry(rest.substr(FUSE_NAME_OFFSET, entry.namelen), entry, last);
    if (before && plus.nodeid != 0) must(plus.nodeid == entry.ino, "of one node");
    rest.remove_prefix(std::min(rest.size(), FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + entry.namelen)));
  }
}

void Drive::handle_operation(unsigned which, std::uint64_t node, Input& input) {
  const std::uint64_t handle = draw_handle(input);
  const std::uint64_t a = input.number(input.byte() % 9), b = input.number(input.byte() % 9);
  const auto small = static_cast<std::uint32_t>(a);
  switch (which) {
    case 0:
      return release(handle);
    case 1:
      (void)ask(FUSE_FLUSH, node, bytes_of(fuse_flush_in{handle, 0, 0, a}));
      return;
    case 2:
      (void)ask(FUSE_FSYNC, node, bytes_of(fuse_fsync_in{handle, small, 0}));
      return;
    case 3:
      (void)ask(FUSE_IOCTL, node, bytes_of(fuse_ioctl_in{handle, 0, small, b, 0, 0}));
      return;
    case 4:
      (void)ask(FUSE_POLL, node, bytes_of(fuse_poll_in{handle, a, static_cast<unsigned>(b), 0}));
      return;
    case 5:
      (void)ask(FUSE_FALLOCATE, node, bytes_of(fuse_fallocate_in{handle, a, b, 0, 0}));
      return;
    case 6:
      (void)ask(FUSE_LSEEK, node, bytes_of(fuse_lseek_in{handle, a, 3, 0}));
      return;
    case 7:
      (void)ask(FUSE_OPENDIR, node, bytes_of(fuse_open_in{small, 0}));
      return;
    case 8:
      (void)ask(FUSE_RELEASEDIR, node, bytes_of(fuse_release_in{handle, 0, 0, 0}));
      return;
    case 9:
      (void)ask(FUSE_FSYNCDIR, node, bytes_of(fuse_fsync_in{handle, small, 0}));
      return;
    case 10:
      (void)ask(FUSE_GETLK, node, bytes_of(fuse_lk_in{handle, a, {0, b, 0, 1}, 0, 0}));
      return;
    case 11:
      (void)ask(FUSE_COPY_FILE_RANGE, node,
                bytes_of(fuse_copy_file_range_in{handle, a, b, handle, 0, 100, 0}));
      return;
    case 12:
      (void)ask(FUSE_BMAP, node, bytes_of(fuse_bmap_in{a, 512, 0}));
      return;
    case 13:
      (void)ask(FUSE_FORGET, node, bytes_of(fuse_forget_in{a}));
      return;
    case 14:
      (void)ask(FUSE_BATCH_FORGET, 0,
                bytes_of(fuse_batch_forget_in{2, 0}) + bytes_of(fuse_forget_one{node, a}) +
                    bytes_of(fuse_forget_one{a, b}));
      return;
    default:
      (void)ask(FUSE_STATFS, node);
  }
}

void Drive::name_operation(unsigned which, std::uint64_t node, Input& input) {
  const std::string name = draw_name(input) + '\0';
  const std::uint64_t other = draw_node(input);
  switch (which) {
    case 0:
      (void)ask(FUSE_RMDIR, node, name);
      return;
    case 1:
      (void)ask(FUSE_UNLINK, node, name);
      return;
    case 2:
      (void)ask(FUSE_MKDIR, node, bytes_of(fuse_mkdir_in{0755, 0}) + name);
      return;
    case 3:
      (void)ask(FUSE_MKNOD, node, bytes_of(fuse_mknod_in{0100644, 0, 0, 0}) + name);
      return;
    case 4:
      (void)ask(FUSE_CREATE, node, bytes_of(fuse_create_in{O_RDWR, 0644, 0, 0}) + name);
      return;
    case 5:
      (void)ask(FUSE_SYMLINK, node, name + "target" + '\0');
      return;
    case 6:
      (void)ask(FUSE_LINK, node, bytes_of(fuse_link_in{other}) + name);
      return;
    case 7:
      (void)ask(FUSE_RENAME, node, bytes_of(fuse_rename_in{other}) + name + "new" + '\0');
      return;
    case 8:
      (void)ask(FUSE_RENAME2, node,
                bytes_of(fuse_rename2_in{other, input.byte(), 0}) + name + "new" + '\0');
      return;
    case 9:
      (void)ask(FUSE_GETXATTR, node, bytes_of(fuse_getxattr_in{64, 0}) + name);
      return;
    case 10:
      (void)ask(FUSE_REMOVEXATTR, node, name);
      return;
    case 11:
      (void)ask(FUSE_LISTXATTR, node, bytes_of(fuse_getxattr_in{64, 0}));
      return;
    case 12:
      (void)ask(FUSE_ACCESS, node, bytes_of(fuse_access_in{input.byte(), 0}));
      return;
    default:
      (void)ask(FUSE_READLINK, node);
  }
}

// An operation that libfuse 3.14 does not have.
void Drive::raw_operation(Input& input) {
  const auto opcode = FUSE_SYNCFS + static_cast<std::uint32_t>(input.number(2) % 4000);
  (void)ask(opcode, draw_node(input), std::string(input.text(64)));
}

void Drive::take_operation(Input& input) {
  constexpr std::array<std::uint32_t, 8> kFlags = {O_RDONLY,
                                                   O_WRONLY,
                                                   O_RDWR,
                                                   O_WRONLY | O_TRUNC,
                                                   O_RDONLY,
                                                   O_RDWR | O_APPEND,
                                                   O_WRONLY | O_TRUNC | O_APPEND,
                                                   O_RDWR | O_TRUNC};
  const std::uint8_t which = input.byte();
  const unsigned kind = which & 15;
  switch (kind) {
    case 0:
      return pending_.push(input.until('\x1e'), which & 16 ? 0 : 1000);
    case 1:
      return stand_.clock.advance(std::chrono::microseconds(input.number(3)));
    case 2:
      uid_ = kUids[input.byte() % kUids.size()];
      return;
    case 3:
      return which & 16 ? kernel_.interrupt_next() : kernel_.interrupt_none();
    case 4:
      return raw_operation(input);
    default:
      break;
  }
  const std::uint64_t node = draw_node(input);
  switch (kind) {
    case 5:
    case 6:
      return lookup(node, draw_name(input));
    case 7:
      return getattr(node, input);
    case 8:
      return setattr(node, input);
    case 9: {
      const std::uint32_t flags = kFlags[which >> 4 & 7];
      if (!(which & 0x80)) return open(node, flags);
      return kernel_.ask_and_go({.opcode = FUSE_OPEN,
                                 .node = node,
                                 .uid = uid_,
                                 .body = bytes_of(fuse_open_in{flags, 0})});
    }
    case 10:
      return read(node, input);
    case 11:
      return write(node, input);
    case 12:
      return list(which & 16 ? FUSE_READDIRPLUS : FUSE_READDIR, node, input);
    case 13:
    case 14:
      return handle_operation(which >> 4, node, input);
    default:
      return name_operation(which >> 4, node, input);
  }
}

// As many can be opened as at the start.
void Drive::check_no_handle_is_left() {
  while (!held_.empty()) release(held_.back().handle);
  stand_.errors.truncate(stand_.clock.now());
  const auto tracing = stand_.tree.lookup(Tree::kRoot, "tracing").value();
  const auto log = stand_.tree.lookup(tracing.id, "error_log").value();
  for (const uid_t uid : kUids) {
    uid_ = uid;
    for (std::uint64_t i = 0; i < kLimits.files_per_uid; ++i) open(log.id, O_RDONLY);
    must(held_.size() == kLimits.files_per_uid, "no handle is left over");
    while (!held_.empty()) release(held_.back().handle);
  }
}

// What a cat would show now is what is there.
void Drive::check_reads() {
  pending_.settle();
  for (const std::uint64_t node : nodes_) {
    const auto file = stand_.tree.file(node);
    if (!file) continue;
    open(node, O_RDONLY);
    const auto text = file.value()->render(stand_.clock.now(), kLimits.bytes_per_uid);
    // The open is a sample of the daemon's own, and comes after its text was made.
    const auto branch = stand_.tree.path(stand_.tree.info(node).value().parent);
    if (held_.empty()) {
      must(!text, "what is short enough opens");
    } else {
      must(branch == "statistics/tallyfs" || *held_.back().text == text.value(),
           "it reads as it is");
      release(held_.back().handle);
    }
  }
}

void Drive::check_end() {
  check_no_handle_is_left();
  check_reads();
  if (notifier_) notifier_->stop();
  stand_.tree.observe(nullptr);
  // The own numbers are gone with the statistics: nothing may be asked of the operations now.
  stand_.check_end();
}

}  // namespace
}  // namespace tally::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const tally::fuzz::Line line;
  tally::fuzz::Input input(bytes, size);
  tally::fuzz::Drive drive(line, input.byte());
  for (std::size_t i = 0; !input.empty() && i < tally::fuzz::kOperations; ++i) {
    drive.take_operation(input);
  }
  drive.check_end();
  return 0;
}
