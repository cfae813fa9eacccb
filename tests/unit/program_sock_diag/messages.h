// Messages as the kernel packs them.
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <string>

namespace tallyfs {

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::string padded(std::string bytes) {
  bytes.resize((bytes.size() + 3) & ~std::size_t{3});
  return bytes;
}

inline std::string message(std::uint16_t type, const std::string& body) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(sizeof header + body.size());
  header.nlmsg_type = type;
  return padded(bytes_of(header) + body);
}

inline std::string attribute(std::uint16_t type, const std::string& value) {
  const nlattr header{static_cast<std::uint16_t>(sizeof header + value.size()), type};
  return padded(bytes_of(header) + value);
}

}  // namespace tallyfs
