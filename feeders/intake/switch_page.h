// The memory of the pages of switches and shapes (core/wire/FORMAT.md): a memfd that we write and
// feeders map. Sealed, so that no process with the descriptor can write the page, or shrink it
// under the others. Only those of its pages take memory that have statistics in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/model/shape.h"
#include "core/model/switch.h"

namespace tallyfs {

class SealedPage {
 public:
  // Of so many bytes at least, all zeros. kNoSpace: no descriptor or no memory; kInvalid: a kernel
  // without seals (F_SEAL_FUTURE_WRITE is of Linux 5.1).
  static Result<SealedPage> create(const char* name, std::uint64_t bytes);
  ~SealedPage();
  SealedPage(SealedPage&& other) noexcept;
  SealedPage& operator=(SealedPage&&) = delete;

  int fd() const { return fd_.get(); }
  std::uint64_t bytes() const { return memory_.size(); }
  std::span<std::byte> memory() const { return memory_; }

 private:
  SealedPage(Fd fd, std::span<std::byte> memory) : fd_(std::move(fd)), memory_(memory) {}

  Fd fd_;
  std::span<std::byte> memory_;
};

// Zeros are what entries of 0 look like.
template <typename Entry>
class PageOf : public SealedPage {
 public:
  explicit PageOf(SealedPage page) : SealedPage(std::move(page)) {}
  // With room for so many statistics at least.
  static Result<PageOf> create(std::uint64_t statistics) {
    auto page = SealedPage::create(kName, statistics * sizeof(Entry));
    if (!page) return page.error();
    return PageOf(std::move(page.value()));
  }
  std::span<Entry> entries() const {
    return {reinterpret_cast<Entry*>(memory().data()), memory().size() / sizeof(Entry)};
  }

 private:
  static constexpr const char* kName =
      sizeof(Entry) == sizeof(Shape) ? "tallyfs-shapes" : "tallyfs-switches";
};

using SwitchPage = PageOf<Switch>;
using ShapePage = PageOf<Shape>;

}  // namespace tallyfs
