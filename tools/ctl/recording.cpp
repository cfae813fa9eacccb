#include "tools/ctl/recording.h"

#include <array>
#include <fstream>
#include <istream>
#include <streambuf>

#include "tools/past/compression.h"

namespace tallyfs {
namespace {

// The unpacked content of a zstd file. It ends where the file is torn or damaged.
class PackedFile : public std::streambuf {
 public:
  explicit PackedFile(const std::string& path) : file_(path, std::ios::binary) {}

  bool is_open() const { return file_.is_open(); }

 protected:
  int_type underflow() override {
    text_.clear();
    while (text_.empty() && file_) {
      file_.read(packed_.data(), static_cast<std::streamsize>(packed_.size()));
      const auto size = static_cast<std::size_t>(file_.gcount());
      if (!unpacker_.add({packed_.data(), size}, text_)) file_.close();
    }
    setg(text_.data(), text_.data(), text_.data() + text_.size());
    return text_.empty() ? traits_type::eof() : traits_type::to_int_type(text_.front());
  }

 private:
  std::ifstream file_;
  std::array<char, 16 * 1024> packed_{};
  past::StreamUnpacker unpacker_;
  std::string text_;
};

class PackedText : public std::istream {
 public:
  explicit PackedText(const std::string& path) : std::istream(nullptr), file_(path) {
    rdbuf(&file_);
    if (!file_.is_open()) setstate(std::ios::failbit);
  }

 private:
  PackedFile file_;
};

}  // namespace

bool is_packed(const std::string& path) { return path.ends_with(".zst"); }

Result<std::unique_ptr<Source>> open_recording_named(const std::string& path) {
  if (!is_packed(path)) return open_recording(path);
  if (!past::can_compress()) return invalid(path + ": this tallyctl was built without zstd");
  return open_recording(path, std::make_unique<PackedText>(path));
}

}  // namespace tallyfs
