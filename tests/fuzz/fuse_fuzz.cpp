// The whole FUSE layer, without a mount: requests as the kernel makes them, in any order, of nodes
// and handles that there are and that there are not, while the socket brings and removes what they
// are about. Each answer is well-formed, a handle reads what it read at its open, nothing is left
// at the end, and the next open shows what there is.
//
// The input is a byte of capabilities and then operations: a byte each, and what it takes.
#include <fcntl.h>

#include "tests/fuzz/fuse_drive.h"

namespace tallyfs::fuzz {
namespace {

constexpr std::array<std::uint32_t, 8> kFlags = {O_RDONLY,
                                                 O_WRONLY,
                                                 O_RDWR,
                                                 O_WRONLY | O_TRUNC,
                                                 O_RDONLY,
                                                 O_RDWR | O_APPEND,
                                                 O_WRONLY | O_TRUNC | O_APPEND,
                                                 O_RDWR | O_TRUNC};

}  // namespace

void Drive::take_operation(Input& input) {
  const std::uint8_t which = input.byte();
  const unsigned kind = which & 15;
  switch (kind) {
    case 0:
      return pending_.push(input.until('\x1e'), which & 16 ? 0 : 1000);
    case 1:
      return fixture_.clock.advance(std::chrono::microseconds(input.number(3)));
    case 2:
      uid_ = kUids[input.byte() % kUids.size()];
      uids_.insert(uid_);
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
      if (flags != O_RDONLY) note_change(node);
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

// As many can be opened as at the start, by each uid that may have opened any.
void Drive::check_no_handle_is_left() {
  while (!held_.empty()) release(held_.back().handle);
  fixture_.errors.truncate(fixture_.clock.now());
  const auto log = fixture_.tree.lookup(tracing_, "error_log").value();
  for (const uid_t uid : uids_) {
    uid_ = uid;
    for (std::uint64_t i = 0; i < kLimits.files_per_uid; ++i) open(log.id, O_RDONLY);
    must(held_.size() == kLimits.files_per_uid, "no handle is left over");
    while (!held_.empty()) release(held_.back().handle);
  }
}

// What a cat would show now is what is there.
void Drive::check_reads() {
  pending_.drain_feeders();
  for (const std::uint64_t node : nodes_) {
    const auto file = fixture_.tree.file(node);
    if (!file) continue;
    open(node, O_RDONLY);
    const auto text = file.value()->render(fixture_.clock.now(), kLimits.bytes_per_uid);
    // The open is a sample of the daemon's own, and comes after its text was made.
    const auto branch = fixture_.tree.path(fixture_.tree.info(node).value().parent);
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
  fixture_.tree.observe(nullptr);
  fixture_.check_end();
}

}  // namespace tallyfs::fuzz

namespace {

constexpr std::size_t kOperations = 200;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using tallyfs::fuzz::IntakeFixture;
  static const tallyfs::fuzz::Line line;
  static std::unique_ptr<IntakeFixture> kept;
  tallyfs::fuzz::Input input(bytes, size);
  tallyfs::fuzz::Drive drive(IntakeFixture::next(kept, line), input.byte());
  for (std::size_t i = 0; !input.empty() && i < kOperations; ++i) {
    drive.take_operation(input);
  }
  drive.check_end();
  return 0;
}
