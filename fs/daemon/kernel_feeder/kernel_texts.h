// Texts in the kernel's memory by their addresses, from the text of the tracing directory's
// printk_formats: lines `0xffffffff8281a3f9 : "preempt_rcu"`. Immutable once made; as large as the
// text, which an order's reply bounds.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tallyfs {

class KernelTexts {
 public:
  KernelTexts() = default;
  // Lines that are none of these are passed over.
  explicit KernelTexts(std::string printk_formats);

  const std::string& printk_formats() const { return printk_formats_; }
  std::optional<std::string> at(std::uint64_t address) const;

 private:
  std::string printk_formats_;
  boost::unordered_flat_map<std::uint64_t, std::string> by_address_;
};

}  // namespace tallyfs
