#include "fs/open_file_saved.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/base/timestamp_bytes.h"
#include "fs/absent_file.h"

namespace tallyfs {
namespace {

constexpr std::int32_t kErrnosMax = 4096;  // MAX_ERRNO of the kernel
// Beside permissions in a saved number.
constexpr std::uint32_t kWriters = 1u << 16;
constexpr std::uint32_t kReaders = 1u << 17;

void put_audience(ByteWriter& out, const Audience& audience) {
  out.put(std::uint32_t{audience.permissions} | (audience.writers ? kWriters : 0) |
          (audience.readers ? kReaders : 0));
}

Audience get_audience(ByteReader& in) {
  const auto saved = in.get<std::uint32_t>();
  return {saved & 07777, (saved & kReaders) != 0, (saved & kWriters) != 0};
}

void put_flag(ByteWriter& out, bool flag) { out.put(static_cast<std::uint8_t>(flag)); }

void put_file(ByteWriter& out, File& file, Timestamp now) {
  put_timestamp(out, file.last_change(now));
  const auto news = news_of(file, now);
  put_flag(out, news.has_value());
  out.put(news.value_or(0));
  const Stream* const stream = file.stream();
  put_flag(out, news && !stream);
  put_flag(out, stream != nullptr);
  out.put(std::uint64_t{stream ? stream->page_bytes() : 0});
  out.put(static_cast<std::uint8_t>(file.write_unit()));
}

// A unit that is missing here does not compile.
File::WriteUnit get_write_unit(ByteReader& in) {
  const auto unit = static_cast<File::WriteUnit>(in.get<std::uint8_t>());
  switch (unit) {
    case File::WriteUnit::kLine:
    case File::WriteUnit::kWrite:
    case File::WriteUnit::kCommand:
      return unit;
  }
  in.fail();
  return {};
}

AbsentFile::Facts get_file(ByteReader& in) {
  AbsentFile::Facts facts;
  facts.last_change = get_timestamp(in);
  const bool has_news = in.get_flag();
  const auto news = in.get<std::uint64_t>();
  if (has_news) facts.news = news;
  (void)in.get_flag();  // follows from the others
  facts.is_stream = in.get_flag();
  facts.page_bytes = in.get<std::uint64_t>();
  facts.write_unit = get_write_unit(in);
  return facts;
}

void put_reading(ByteWriter& out, const OpenFile& open) REQUIRES(open.reading) {
  out.put(open.news);
  out.put(open.seen);
  out.put(open.shown);
  put_flag(out, open.is_read);
  out.put_text(open.stream_rest);
  put_flag(out, open.later_text != nullptr);
  if (open.later_text) out.put_text(*open.later_text);
}

void get_reading(ByteReader& in, OpenFile& open) REQUIRES(open.reading) {
  open.news = in.get<std::uint64_t>();
  open.seen = in.get<std::uint64_t>();
  open.shown = in.get<std::uint64_t>();
  open.is_read = in.get_flag();
  open.stream_rest = in.get_text();
  if (!in.get_flag()) return;
  open.later_text = std::make_shared<const std::string>(in.get_text());
  open.later_bytes = open.later_text->size();
}

std::uint64_t older_than(std::uint64_t news) {
  return news == 0 ? std::numeric_limits<std::uint64_t>::max() : news - 1;
}

// Another server may count news from another number on. The number of before means the news of now,
// others mean older ones.
void count_news_from(OpenFile& open, std::uint64_t before, std::uint64_t now)
    REQUIRES(open.reading) {
  const std::uint64_t older = older_than(now);
  for (std::uint64_t* const each : {&open.news, &open.seen, &open.shown}) {
    *each = *each == before ? now : older;
  }
}

// Behind what the killed server had, of which reads are not known either: the next one from the
// start shows what there is now.
void make_all_news(OpenFile& open, std::uint64_t now) REQUIRES(open.reading) {
  open.news = open.seen = open.shown = older_than(now);
  open.is_read = true;
}

// Directories make their entries when they are entered. A file that others may read or write than
// those of before is another one of that name.
std::optional<NodeId> node_at(const Tree& tree, const OpenFile& open, Timestamp now) {
  std::string_view path = open.path;
  if (path.empty()) return std::nullopt;
  NodeId node = Tree::kRoot;
  while (!path.empty()) {
    if (const auto rules = tree.rules(node)) rules.value()->entered(now);
    const auto found = tree.lookup(node, path.substr(0, path.find('/')));
    if (!found) return std::nullopt;
    node = found.value().id;
    path.remove_prefix(std::min(path.find('/'), path.size() - 1) + 1);
  }
  const auto info = tree.info(node);
  if (!info || info.value().audience != open.node.audience) return std::nullopt;
  return node;
}

// The object of the nearest directory above the node that has one.
std::shared_ptr<const void> hold_directory(const Tree& tree, NodeId node) {
  const auto path = tree.path_of(node);
  if (!path) return nullptr;
  std::shared_ptr<const void> held;
  NodeId directory = path.value().from;
  while (!held && directory != Tree::kRoot) {
    const auto rules = tree.rules(directory);
    const auto info = tree.info(directory);
    if (!rules || !info) break;
    held = rules.value()->hold();
    directory = info.value().parent;
  }
  return held;
}

}  // namespace

void save_open_file(std::uint64_t handle, OpenFile& open, Timestamp now, ByteWriter& out) {
  out.put(handle);
  out.put(open.request);
  out.put(std::uint64_t{open.kernel_node});
  out.put_text(open.path);
  out.put(std::uint64_t{open.node.id});
  out.put(std::uint64_t{open.node.parent});
  put_audience(out, open.node.audience);
  put_timestamp(out, open.node.last_change);
  out.put(std::uint32_t{open.uid});
  put_flag(out, open.shows == Shows::kOwnNumbers);
  put_flag(out, open.readable);
  put_flag(out, open.append);
  out.put_text(open.location);
  out.put_text(open.text);
  put_file(out, *open.file.current(), now);
  {
    const MutexLock lock(open.reading);
    put_reading(out, open);
  }
  const MutexLock lock(open.writing);
  out.put(open.answered);
  out.put(static_cast<std::int32_t>(open.answer));
  out.put_text(open.begun);
  open.transaction.save(out);
}

Result<SavedOpenFile> load_open_file(std::string_view bytes, const Tree& tree, Timestamp now,
                                     FoundBy by) {
  ByteReader in(bytes);
  SavedOpenFile saved{.handle = in.get<std::uint64_t>(), .open = std::make_shared<OpenFile>()};
  OpenFile& open = *saved.open;
  open.request = in.get<std::uint64_t>();
  open.kernel_node = in.get<std::uint64_t>();
  open.path = in.get_text();
  open.node.id = in.get<std::uint64_t>();
  open.node.parent = in.get<std::uint64_t>();
  open.node.audience = get_audience(in);
  open.node.last_change = get_timestamp(in);
  open.uid = in.get<std::uint32_t>();
  open.shows = in.get_flag() ? Shows::kOwnNumbers : Shows::kAny;
  open.readable = in.get_flag();
  open.append = in.get_flag();
  open.location = in.get_text();
  open.text = in.get_text();
  if (by == FoundBy::kPath) {
    if (open.kernel_node == 0) open.kernel_node = open.node.id;
    open.node.id = node_at(tree, open, now).value_or(open.node.id);
  }
  const AbsentFile::Facts facts = get_file(in);
  if (auto found = tree.file_node(open.node.id)) {
    open.node.audience = found.value().info.audience;
    if (by == FoundBy::kPath) open.node.parent = found.value().info.parent;
    open.file = HandleFile(std::move(found.value().file));
  } else {
    open.file = HandleFile(tree, open.node.id, std::make_shared<AbsentFile>(facts));
  }
  {
    const MutexLock lock(open.reading);
    get_reading(in, open);
    const auto news = open.file.current()->news(now);
    const bool has_news = facts.news && news && !facts.is_stream;
    if (has_news && by == FoundBy::kPath) make_all_news(open, *news);
    if (has_news && by == FoundBy::kNumber) count_news_from(open, *facts.news, *news);
  }
  const MutexLock lock(open.writing);
  open.answered = in.get<std::uint64_t>();
  open.answer = in.get<std::int32_t>();
  if (open.answer < 0 || open.answer >= kErrnosMax) in.fail();
  open.begun = in.get_text();
  open.transaction.load(in);
  if (!in.ok() || in.left() != 0) return Error{ErrorCode::kInvalid, "this is no open file"};
  return saved;
}

Result<std::shared_ptr<const void>> hold_loaded(const OpenFile& open, const Tree& tree,
                                                Timestamp now) {
  const auto file = tree.file(open.node.id);
  if (!file) return hold_directory(tree, open.node.id);
  const auto access = open.readable ? File::Access::kRead : File::Access::kWrite;
  return file.value()->hold(access, now);
}

}  // namespace tallyfs
