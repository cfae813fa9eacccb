// zstd, for blocks of the store and for recordings. Any thread may call the functions.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tallyfs::past {

// kSmall takes several times as long, for bytes that are kept.
enum class Effort { kFast, kSmall };
// The frame has a sum of its content, so that damage is found.
std::string compress(std::string_view bytes, Effort effort);
// nullopt if it is no whole frame, its sum is wrong, or it does not contain exactly `size` bytes.
std::optional<std::string> decompress(std::string_view frame, std::size_t size);

// False where tallyfs was built without zstd.
bool can_compress();

// One frame that grows. Confined to one thread.
class StreamPacker {
 public:
  StreamPacker();
  // Returns bytes from which, after those before, all can be read that was added.
  std::string add(std::string_view bytes);
  // The end of the frame.
  std::string end();

  struct Free {
    void operator()(void* context) const;
  };

 private:
  std::string packed(std::string_view bytes, bool is_end);

  std::unique_ptr<void, Free> context_;
};

// Frames, piece by piece. Confined to one thread.
class StreamUnpacker {
 public:
  StreamUnpacker();
  // Appends what can be read by now. False: it is no zstd, or damaged.
  bool add(std::string_view bytes, std::string& out);

  struct Free {
    void operator()(void* context) const;
  };

 private:
  std::unique_ptr<void, Free> context_;
};

}  // namespace tallyfs::past
