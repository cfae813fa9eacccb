// The look-ups that the engine needs when it renders: names of addresses and of system calls, and
// texts in the kernel's memory. The room that knows them (a feeder, from kallsyms and
// printk_formats) implements it; NoSymbols is for those that do not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tallyfs {

// Asked while a copy is rendered, by any thread, outside every lock.
class Symbols {
 public:
  struct Place {
    std::string name;  // "schedule"; empty: unknown
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::string module = {};  // "ext4"; empty: the kernel itself
  };
  virtual ~Symbols() = default;
  virtual Place place(std::uint64_t address) const = 0;
  // "sys_read"; empty: unknown.
  virtual std::string syscall(std::uint64_t number) const = 0;
  // The text that begins at this address. Nothing: it is not known.
  virtual std::optional<std::string> text(std::uint64_t /*address*/) const { return std::nullopt; }
};

class NoSymbols final : public Symbols {
 public:
  Place place(std::uint64_t) const override { return {}; }
  std::string syscall(std::uint64_t) const override { return {}; }
};

// `schedule+0x2e/0x110 [module]`, without the offset `schedule [module]`; the address if its symbol
// is unknown.
enum class Offset { kHidden, kShown };
std::string place_text(const Symbols& symbols, std::uint64_t address, Offset offset);

}  // namespace tallyfs
