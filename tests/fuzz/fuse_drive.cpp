#include "tests/fuzz/fuse_drive.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>

namespace tallyfs::fuzz {

void Drive::note_change(std::uint64_t node) {
  const std::string path = fixture_.tree.path(node);
  if (path.starts_with("latency_hist")) fixture_.latencies.note_changed();
  if (path.starts_with("stats")) fixture_.subsystems.note_changed();
  if (path.starts_with("statistics/tallyfs")) fixture_.note_own();
}

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
  const auto response = ask(FUSE_LOOKUP, node, name + '\0');
  if (!response.ok()) return;
  const auto entry = value_of<fuse_entry_out>(response.body);
  must(entry.nodeid != 0 && entry.nodeid == entry.attr.ino, "a node");
  must(entry.attr.uid == 0 && (entry.attr.mode & 07022) == 0, "the owner's alone to write");
  if (std::find(nodes_.begin(), nodes_.end(), entry.nodeid) == nodes_.end()) {
    nodes_.push_back(entry.nodeid);
  }
}

void Drive::getattr(std::uint64_t node, Input& input) {
  const std::uint32_t flags = input.byte() & 1 ? FUSE_GETATTR_FH : 0;
  const std::uint64_t handle = flags ? draw_handle(input) : 0;
  const auto response = ask(FUSE_GETATTR, node, bytes_of(fuse_getattr_in{flags, 0, handle}));
  const Held* const held = flags ? find(handle) : nullptr;
  if (!held || !held->text) return;
  must(response.ok(), "an open handle has attributes");
  must(value_of<fuse_attr_out>(response.body).attr.size == held->text->size(), "its text's size");
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
    const auto response = ask(FUSE_READ, node, bytes_of(wanted));
    must(response.ok(), "what was opened for reading reads");
    if (response.body.empty()) return text;
    text += response.body;
  }
}

void Drive::open(std::uint64_t node, std::uint32_t flags) {
  if (flags != O_RDONLY) note_change(node);
  const auto response = ask(FUSE_OPEN, node, bytes_of(fuse_open_in{flags, 0}));
  if (!response.ok()) return;
  const auto opened = value_of<fuse_open_out>(response.body);
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
  const auto response = ask(FUSE_READ, node, bytes_of(wanted));
  must(response.body.size() <= wanted.size, "no more than asked for");
  const Held* const held = find(wanted.fh);
  if (!held || !held->text) return;
  const std::string& text = *held->text;
  must(response.ok() &&
           response.body ==
               text.substr(std::min<std::size_t>(wanted.offset, text.size()), wanted.size),
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
  const auto response = ask(FUSE_WRITE, node, bytes_of(wanted) + text);
  if (response.ok()) {
    must(value_of<fuse_write_out>(response.body).size == text.size(), "a write is whole");
  }
}

void Drive::release(std::uint64_t handle) {
  const auto response = ask(FUSE_RELEASE, Tree::kRoot, bytes_of(fuse_release_in{handle, 0, 0, 0}));
  must(response.ok(), "release cannot fail");
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
  const auto response = ask(opcode, node, bytes_of(wanted));
  must(response.body.size() <= wanted.size, "no more than asked for");
  const std::size_t before = opcode == FUSE_READDIRPLUS ? sizeof(fuse_entry_out) : 0;
  std::uint64_t last = static_cast<std::int64_t>(wanted.offset) < 0 ? 0 : wanted.offset;
  for (std::string_view rest = response.body; !rest.empty();) {
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

}  // namespace tallyfs::fuzz
