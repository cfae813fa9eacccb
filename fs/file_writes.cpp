#include "fs/file_writes.h"

#include <optional>
#include <string>
#include <utility>

#include "fs/protocol.h"
#include "fs/replies.h"

namespace tallyfs {
namespace {

// The most bytes of files that are written at once. The kernel cuts longer writes, and a piece may
// be shorter than the most by nearly one page.
constexpr std::size_t kWholeWriteBytesMax = protocol::kMaxWriteBytes - 4096;

}  // namespace

LineSink FileWrites::sink(const OpenFile& open, File& file, const CancellationToken& cancel) {
  return {.apply = [this, &open, &file, cancel](std::string_view line) -> Result<void> {
            if (!dependencies_.tree.info(open.node.id)) return gone();
            const CallContext call =
                dependencies_.rights.context(open.uid, dependencies_.clock.now(), cancel);
            const auto done = file.write_line(line, call);
            if (!done) return done;
            const LineReviewer* const reviewer = file.reviewer();
            if (const auto remark = reviewer ? reviewer->remark(line) : std::nullopt) {
              dependencies_.errors.warn({ErrorLog::Source::kMount, open.uid}, open.location, line,
                                        *remark, call.now);
            }
            return {};
          },
          .report =
              [this, &open, &file](std::string_view text, const Error& error) {
                if (LineReviewer* const reviewer = file.reviewer()) reviewer->note_refused_line();
                report(open, text, error);
              }};
}

void FileWrites::report(const OpenFile& open, std::string_view text, const Error& error) {
  const Timestamp now = dependencies_.clock.now();
  dependencies_.errors.report({ErrorLog::Source::kMount, open.uid}, open.location, text, error,
                              now);
  dependencies_.counters.count("rejects", 1, now);
}

// The offset of the write does not matter: the kernel's own files of this kind have no offsets.
Result<void> FileWrites::write_whole(OpenFile& open, File& file, pid_t writer,
                                     std::string_view text, const CancellationToken& cancel) {
  std::string whole = std::exchange(open.begun, {});
  whole.append(text);
  if (whole.size() > kWholeWriteBytesMax) {
    const Error error{ErrorCode::kTooBig, "more than can be written at once"};
    report(open, text, error);
    return error;
  }
  if (file.write_unit() == File::WriteUnit::kCommand && whole.ends_with("\\\n")) {
    open.begun = std::move(whole);
    return {};
  }
  const CallContext call =
      dependencies_.rights.context(open.uid, dependencies_.clock.now(), cancel);
  Result<void> done = gone();
  if (dependencies_.tree.info(open.node.id)) {
    Marker* const marker = file.marker();
    done = marker ? marker->write(writer, whole, call) : file.write_line(whole, call);
  }
  if (done) return done;
  if (whole.ends_with('\n')) whole.pop_back();
  report(open, whole, done.error());
  return done;
}

Result<void> FileWrites::write(OpenFile& open, File& file, pid_t writer, std::string_view text,
                               Placement placement, const CancellationToken& cancel) {
  if (file.write_unit() != File::WriteUnit::kLine) {
    return write_whole(open, file, writer, text, cancel);
  }
  return open.transaction.write(text, placement, sink(open, file, cancel));
}

Result<void> FileWrites::finish(OpenFile& open, File& file, pid_t writer) {
  if (open.begun.empty()) return open.transaction.finish(sink(open, file, {}));
  open.begun.resize(open.begun.size() - 2);
  return write_whole(open, file, writer, {}, {});
}

}  // namespace tallyfs
