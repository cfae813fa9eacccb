// The memory of the pages of switches and shapes (core/wire/FORMAT.md): a memfd that we write and
// feeders map. Feeders get a descriptor that was opened for reading, and the mode is 0400. So no
// process of another uid can write the page, or open it anew for writing. The seals keep all from
// shrinking it under the others. There is no seal against writing: the next server maps the page
// for writing, too. Only those of its pages take memory that have statistics in them.
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
  // Makes a page of so many bytes at least, all zeros. kNoSpace: no descriptor or no memory;
  // kInvalid: a kernel without seals, or no /proc.
  static Result<SealedPage> create(const char* name, std::uint64_t bytes);
  // The page of a server before, with what is in it. kInvalid: it is none of that size.
  static Result<SealedPage> adopt(Fd fd, std::uint64_t bytes);
  ~SealedPage();
  SealedPage(SealedPage&& other) noexcept;
  SealedPage& operator=(SealedPage&&) = delete;

  // For the next server alone.
  int fd() const { return fd_.get(); }
  // Opened for reading.
  int fd_for_feeders() const { return for_feeders_.get(); }
  std::uint64_t bytes() const { return memory_.size(); }
  std::span<std::byte> memory() const { return memory_; }

 private:
  SealedPage(Fd fd, std::span<std::byte> memory) : fd_(std::move(fd)), memory_(memory) {}
  static Result<SealedPage> map(Fd fd, std::uint64_t bytes);

  Fd fd_;
  Fd for_feeders_;
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
  // The page that create() made for as many in a server before.
  static Result<PageOf> adopt(Fd fd, std::uint64_t bytes) {
    auto page = SealedPage::adopt(std::move(fd), bytes);
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
