#include "tests/fuzz/fuse_kernel.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "tests/fuzz/fuzzed.h"

namespace tallyfs::fuzz {
namespace {

bool is_answered(std::uint32_t opcode) {
  return opcode != FUSE_FORGET && opcode != FUSE_BATCH_FORGET && opcode != FUSE_INTERRUPT;
}

// What fs/operations_table.cpp leaves out on purpose, and what libfuse 3.14 does not know.
bool may_be_not_implemented(std::uint32_t opcode) {
  switch (opcode) {
    case FUSE_SETXATTR:
    case FUSE_GETXATTR:
    case FUSE_LISTXATTR:
    case FUSE_REMOVEXATTR:
    case FUSE_ACCESS:
    case FUSE_GETLK:
    case FUSE_SETLK:
    case FUSE_SETLKW:
    case FUSE_LSEEK:
    case FUSE_COPY_FILE_RANGE:
      return true;
    default:
      return opcode > FUSE_COPY_FILE_RANGE;
  }
}

// The size of what an operation answers when all went well; nothing where the response has as much
// as it likes.
std::optional<std::size_t> size_of_response(std::uint32_t opcode) {
  switch (opcode) {
    case FUSE_INIT:
    case FUSE_READ:
    case FUSE_READDIR:
    case FUSE_READDIRPLUS:
      return std::nullopt;
    case FUSE_LOOKUP:
    case FUSE_MKDIR:
      return sizeof(fuse_entry_out);
    case FUSE_POLL:
      return sizeof(fuse_poll_out);
    case FUSE_GETATTR:
    case FUSE_SETATTR:
      return sizeof(fuse_attr_out);
    case FUSE_OPEN:
    case FUSE_OPENDIR:
      return sizeof(fuse_open_out);
    case FUSE_WRITE:
      return sizeof(fuse_write_out);
    case FUSE_STATFS:
      return sizeof(fuse_statfs_out);
    default:
      return 0;
  }
}

void check(const Request& request, const Kernel::Response& response) {
  must(response.came == is_answered(request.opcode), "one answer, to what is answered");
  if (!response.came) return;
  must(response.error >= 0 && response.error < 512, "an errno");
  must(response.error != ENOSYS || may_be_not_implemented(request.opcode), "all is implemented");
  must(response.error == 0 || response.body.empty(), "an error comes alone");
  const auto size = size_of_response(request.opcode);
  must(response.error != 0 || !size || response.body.size() == *size, "the operation's own answer");
}

}  // namespace

Kernel::Kernel(Operations& operations, std::uint32_t capabilities) {
  must(!current_, "one kernel at a time");
  current_ = this;
  std::array<char, 8> name = {"tallyfs"};
  std::array<char*, 2> arguments = {name.data(), nullptr};
  fuse_args args = FUSE_ARGS_INIT(1, arguments.data());
  session_ = fuse_session_new(&args, &Operations::table(), sizeof(fuse_lowlevel_ops), &operations);
  fuse_opt_free_args(&args);  // which libfuse may have made its own
  must(session_, "a session");
  const fuse_custom_io io = {.writev = take,
                             .read = [](int, void*, std::size_t, void*) -> ssize_t { return 0; },
                             .splice_receive = nullptr,
                             .splice_send = nullptr};
  // libfuse closes it with the session.
  must(fuse_session_custom_io(session_, &io, ::open("/dev/null", O_RDWR | O_CLOEXEC)) == 0, "io");
  const Response response = ask({.opcode = FUSE_INIT,
                                 .body = bytes_of(fuse_init_in{.major = FUSE_KERNEL_VERSION,
                                                               .minor = FUSE_KERNEL_MINOR_VERSION,
                                                               .max_readahead = 128 * 1024,
                                                               .flags = capabilities,
                                                               .flags2 = 0,
                                                               .unused = {}})});
  must(response.ok() && response.body.size() == sizeof(fuse_init_out), "the connection is made");
  const auto said = value_of<fuse_init_out>(response.body);
  must((said.flags & ~(capabilities | FUSE_BIG_WRITES | FUSE_INIT_EXT | FUSE_MAX_PAGES)) == 0,
       "nothing is wanted that was not offered");
  must(said.max_write == protocol::kMaxWriteBytes, "writes have their bound");
}

Kernel::~Kernel() {
  // Each request makes libfuse give one of the interrupts up that found nothing.
  for (std::size_t i = 0; i < interrupts_.size(); ++i) {
    (void)ask({.opcode = FUSE_STATFS, .node = FUSE_ROOT_ID});
  }
  fuse_session_destroy(session_);
  current_ = nullptr;
}

Kernel::Response Kernel::ask(const Request& request) {
  Steps::add(1);
  const std::uint64_t unique = next_unique_;
  next_unique_ += 2;  // odd ones are those of interrupts
  process(unique, request);
  check(request, response_);
  return std::exchange(response_, {});
}

void Kernel::ask_and_go(const Request& request) {
  gone_ = true;
  (void)ask(request);
  gone_ = false;
}

void Kernel::interrupt(std::uint64_t unique) {
  if (!interrupts_.insert(unique | 1).second) return;
  process(unique | 1, {.opcode = FUSE_INTERRUPT, .body = bytes_of(fuse_interrupt_in{unique})});
  must(!response_.came, "an interrupt has no answer of its own");
}

void Kernel::process(std::uint64_t unique, const Request& request) {
  const fuse_in_header header = {
      .len = static_cast<std::uint32_t>(sizeof(fuse_in_header) + request.body.size()),
      .opcode = request.opcode,
      .unique = unique,
      .nodeid = request.node,
      .uid = request.uid,
      .gid = request.uid,
      .pid = 1,
      .total_extlen = 0,
      .padding = 0};
  // On the heap and no longer than it is, so that reading beyond its end is seen.
  const std::string whole = bytes_of(header) + request.body;
  std::vector<char> memory(whole.begin(), whole.end());
  fuse_buf buffer{};
  buffer.mem = memory.data();
  buffer.size = memory.size();
  waiting_for_ = unique;
  fuse_session_process_buf(session_, &buffer);
  waiting_for_ = 0;
}

ssize_t Kernel::take(int, iovec* parts, int count, void*) {
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  }
  must(bytes.size() >= sizeof(fuse_out_header), "a header");
  const auto header = value_of<fuse_out_header>(bytes);
  must(header.len == bytes.size(), "the length is that of the whole");
  if (header.unique != 0) return current_->take_response(bytes);
  current_->take_notice(bytes);
  return static_cast<ssize_t>(bytes.size());
}

ssize_t Kernel::take_response(const std::string& bytes) {
  const auto header = value_of<fuse_out_header>(bytes);
  if (header.unique != waiting_for_) {
    // An interrupt that came before its request is told to come again.
    must((header.unique & 1) && header.error == -EAGAIN, "an answer to what was asked");
    must(interrupts_.contains(header.unique), "an interrupt that was sent");
    return static_cast<ssize_t>(bytes.size());
  }
  must(!response_.came, "no second answer");
  response_ = {.came = true, .error = -header.error, .body = bytes.substr(sizeof header)};
  if (!gone_) return static_cast<ssize_t>(bytes.size());
  errno = ENOENT;
  return -1;
}

// On the Notifier's thread.
void Kernel::take_notice(const std::string& bytes) {
  const auto header = value_of<fuse_out_header>(bytes);
  const std::string_view body = std::string_view(bytes).substr(sizeof header);
  if (header.error == FUSE_NOTIFY_INVAL_INODE) {
    must(body.size() == sizeof(fuse_notify_inval_inode_out), "an inode's notice");
    return;
  }
  must(header.error == FUSE_NOTIFY_INVAL_ENTRY, "a notice that we know");
  const auto entry = value_of<fuse_notify_inval_entry_out>(body);
  must(body.size() == sizeof entry + entry.namelen + 1 && body.back() == '\0', "with its name");
}

}  // namespace tallyfs::fuzz
