#include "feeders/log/follow/journal_reader.h"

#include <systemd/sd-journal.h>

#include <cstdlib>
#include <cstring>
#include <utility>

namespace tallyfs::logs {
namespace {

// A message is as long as a line of a file; longer ones are cut.
constexpr std::size_t kFieldBytesMax = 64 << 10;
// The name of a field, = and a byte more than the bound.
constexpr std::size_t kThreshold = kFieldBytesMax + 128;

Error failed(int error) { return invalid(std::string("the journal: ") + std::strerror(-error)); }

}  // namespace

void JournalReader::Close::operator()(sd_journal* journal) const { ::sd_journal_close(journal); }

Result<JournalReader> JournalReader::open(Settings settings) {
  ::sd_journal* journal = nullptr;
  const int error = settings.directory.empty()
                        ? ::sd_journal_open(&journal, SD_JOURNAL_LOCAL_ONLY)
                        : ::sd_journal_open_directory(&journal, settings.directory.c_str(), 0);
  if (error < 0) return failed(error);
  JournalReader reader(journal);
  if (const int failure = reader.begin(settings); failure < 0) return failed(failure);
  reader.set_fields(std::move(settings.fields));
  return reader;
}

int JournalReader::begin(const Settings& settings) {
  ::sd_journal* const journal = journal_.get();
  (void)::sd_journal_set_data_threshold(journal, kThreshold);
  if (const int error = add_units(settings.units); error < 0) return error;
  if (const int error = ::sd_journal_get_fd(journal); error < 0) return error;
  if (!settings.cursor.empty()) return continue_after(settings.cursor);
  if (settings.is_from_start) return ::sd_journal_seek_head(journal);
  if (const int error = ::sd_journal_seek_tail(journal); error < 0) return error;
  const int moved = ::sd_journal_previous(journal);
  // Entries that come until the next start are after this one, also if none is read now.
  if (moved > 0) place_.cursor = current_cursor();
  if (moved != 0) return moved;
  place_.cursor = kHead;
  return ::sd_journal_seek_head(journal);
}

// A seek leads to the entry itself, or, if it is gone, to one near it. A cursor that is none at all
// leads to the start: entries count twice rather than never.
int JournalReader::continue_after(const std::string& cursor) {
  ::sd_journal* const journal = journal_.get();
  if (cursor == kHead) return ::sd_journal_seek_head(journal);
  place_.is_lost = ::sd_journal_seek_cursor(journal, cursor.c_str()) < 0;
  if (place_.is_lost) return ::sd_journal_seek_head(journal);
  const int moved = ::sd_journal_next(journal);
  if (moved <= 0) return moved;
  if (::sd_journal_test_cursor(journal, cursor.c_str()) > 0) return 0;
  place_.is_lost = true;
  // The next one is to be that entry. There is none before it where it is the first.
  const int back = ::sd_journal_previous(journal);
  return back == 0 ? ::sd_journal_seek_head(journal) : back;
}

// Adds matches for entries that the units wrote themselves.
int JournalReader::add_units(const std::vector<std::string>& units) {
  for (const std::string& unit : units) {
    const bool has_suffix = unit.find('.') != unit.npos;
    const std::string match = "_SYSTEMD_UNIT=" + unit + (has_suffix ? "" : ".service");
    const int error = ::sd_journal_add_match(journal_.get(), match.c_str(), 0);
    if (error < 0) return error;
  }
  return 0;
}

std::string JournalReader::current_cursor() const {
  char* text = nullptr;
  if (::sd_journal_get_cursor(journal_.get(), &text) < 0) return {};
  std::string cursor = text;
  std::free(text);
  return cursor;
}

void JournalReader::set_fields(std::vector<std::string> fields) {
  fields_ = std::move(fields);
  texts_.assign(fields_.size(), std::nullopt);
  values_.assign(fields_.size(), std::nullopt);
}

int JournalReader::fd() const { return ::sd_journal_get_fd(journal_.get()); }

void JournalReader::acknowledge() { (void)::sd_journal_process(journal_.get()); }

std::optional<std::string> JournalReader::field(const std::string& name) {
  const void* data = nullptr;
  std::size_t bytes = 0;
  if (::sd_journal_get_data(journal_.get(), name.c_str(), &data, &bytes) < 0) return std::nullopt;
  const std::string_view text(static_cast<const char*>(data), bytes);
  return std::string(text.substr(std::min(name.size() + 1, text.size()), kFieldBytesMax + 1));
}

std::optional<JournalReader::Entry> JournalReader::next() {
  const int moved = ::sd_journal_next(journal_.get());
  error_ = moved < 0 ? -moved : 0;
  if (moved <= 0) return std::nullopt;
  message_ = field("MESSAGE");
  const bool is_cut = message_ && message_->size() > kFieldBytesMax;
  if (is_cut) message_->resize(kFieldBytesMax);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    texts_[i] = field(fields_[i]);
    values_[i] = texts_[i] ? std::optional<std::string_view>(*texts_[i]) : std::nullopt;
  }
  cursor_ = current_cursor();
  const auto message = message_ ? std::string_view(*message_) : std::string_view();
  return Entry{message, values_, cursor_, is_cut};
}

}  // namespace tallyfs::logs
