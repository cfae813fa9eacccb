// The symbols of all sources as one. Confined to a thread; the sources outlive it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/model/symbols.h"

namespace tallyfs {

class SourceSymbols final : public Symbols {
 public:
  explicit SourceSymbols(std::vector<const Symbols*> sources) : sources_(std::move(sources)) {}

  // Of the first source that knows it.
  Place place(std::uint64_t address) const override;
  std::string syscall(std::uint64_t number) const override;

 private:
  const std::vector<const Symbols*> sources_;
};

}  // namespace tallyfs
