#include "fs/open_file_saved.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/base/moment_bytes.h"
#include "fs/absent_file.h"

namespace tallyfs {
namespace {

void put_flag(ByteWriter& out, bool flag) { out.put(static_cast<std::uint8_t>(flag)); }

void put_file(ByteWriter& out, const File& file, Moment now) {
  put_moment(out, file.last_change(now));
  const auto news = file.news(now);
  put_flag(out, news.has_value());
  out.put(news.value_or(0));
  put_flag(out, file.has_priority_news());
  put_flag(out, file.is_stream());
  out.put(std::uint64_t{file.page_bytes()});
  // Of a file that is absent then, markers are writes: it takes none.
  const auto unit = file.write_unit();
  out.put(static_cast<std::uint8_t>(unit == File::WriteUnit::kMarker ? File::WriteUnit::kWrite
                                                                     : unit));
}

// A unit that is missing here does not compile.
File::WriteUnit get_write_unit(ByteReader& in) {
  const auto unit = static_cast<File::WriteUnit>(in.get<std::uint8_t>());
  switch (unit) {
    case File::WriteUnit::kLine:
    case File::WriteUnit::kWrite:
    case File::WriteUnit::kCommand:
      return unit;
    case File::WriteUnit::kMarker:
      break;
  }
  in.fail();
  return {};
}

AbsentFile::Facts get_file(ByteReader& in) {
  AbsentFile::Facts facts;
  facts.last_change = get_moment(in);
  const bool has_news = in.get_flag();
  const auto news = in.get<std::uint64_t>();
  if (has_news) facts.news = news;
  facts.has_priority_news = in.get_flag();
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

// Another server may count news from another number on. The number of before means the news of now,
// others mean older ones.
void count_news_from(OpenFile& open, std::uint64_t before, std::uint64_t now)
    REQUIRES(open.reading) {
  const std::uint64_t older = now == 0 ? std::numeric_limits<std::uint64_t>::max() : now - 1;
  for (std::uint64_t* const each : {&open.news, &open.seen, &open.shown}) {
    *each = *each == before ? now : older;
  }
}

}  // namespace

void save_open_file(std::uint64_t handle, OpenFile& open, Moment now, ByteWriter& out) {
  out.put(handle);
  out.put(std::uint64_t{open.node.id});
  out.put(std::uint64_t{open.node.parent});
  out.put(std::uint32_t{open.node.permissions});
  put_moment(out, open.node.last_change);
  out.put(std::uint32_t{open.uid});
  put_flag(out, open.shows == Shows::kOwnNumbers);
  put_flag(out, open.readable);
  put_flag(out, open.append);
  out.put_text(open.location);
  out.put_text(open.text);
  put_file(out, *open.file, now);
  {
    const MutexLock lock(open.reading);
    put_reading(out, open);
  }
  const MutexLock lock(open.writing);
  out.put_text(open.begun);
  open.transaction.save(out);
}

Result<SavedOpenFile> load_open_file(std::string_view bytes, const Tree& tree, Moment now) {
  ByteReader in(bytes);
  SavedOpenFile saved{.handle = in.get<std::uint64_t>(), .open = std::make_shared<OpenFile>()};
  OpenFile& open = *saved.open;
  open.node.id = in.get<std::uint64_t>();
  open.node.parent = in.get<std::uint64_t>();
  open.node.permissions = in.get<std::uint32_t>();
  open.node.last_change = get_moment(in);
  open.uid = in.get<std::uint32_t>();
  open.shows = in.get_flag() ? Shows::kOwnNumbers : Shows::kAny;
  open.readable = in.get_flag();
  open.append = in.get_flag();
  open.location = in.get_text();
  open.text = in.get_text();
  const AbsentFile::Facts facts = get_file(in);
  const auto file = tree.file(open.node.id);
  open.file = file ? file.value() : std::make_shared<AbsentFile>(tree, open.node.id, facts);
  {
    const MutexLock lock(open.reading);
    get_reading(in, open);
    const auto news = open.file->news(now);
    if (facts.news && news && !facts.is_stream) count_news_from(open, *facts.news, *news);
  }
  const MutexLock lock(open.writing);
  open.begun = in.get_text();
  open.transaction.load(in);
  if (!in.ok() || in.left() != 0) return Error{ErrorCode::kInvalid, "this is no open file"};
  return saved;
}

}  // namespace tallyfs
