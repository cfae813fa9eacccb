// The symbols of all sources together, for one call. Confined to one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/symbols.h"

namespace tallyfs::tracing {

class SourceSymbols final : public Symbols {
 public:
  using Sources = std::vector<std::unique_ptr<const Symbols>>;

  explicit SourceSymbols(Sources sources) : sources_(std::move(sources)) {}

  // The place from the first source that knows the address.
  Place place(std::uint64_t address) const override;
  std::string syscall(std::uint64_t number) const override;
  std::optional<std::string> text(std::uint64_t address) const override;

 private:
  const Sources sources_;
};

}  // namespace tallyfs::tracing
