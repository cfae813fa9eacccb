#include "core/tracing/print/print_pointer.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/text.h"
#include "core/model/record.h"

namespace tallyfs::tracing {
namespace {

// A kind comes before the kinds that it begins with.
constexpr std::array<std::string_view, 14> kPointerKinds = {
    "ISpc", "ISc", "ISp", "IS", "I6c", "I6", "I4", "MF", "M", "UB", "Ub", "U", "bl", "b"};

constexpr char kDigits[] = "0123456789abcdef";

void append_byte(std::string& out, char byte) {
  const auto value = static_cast<unsigned char>(byte);
  out.append({kDigits[value >> 4], kDigits[value & 15]});
}

void append_internet(std::string& out, int family, std::string_view address) {
  char text[INET6_ADDRSTRLEN];
  out.append(inet_ntop(family, address.data(), text, sizeof text) ? text : "?");
}

// Appends all groups of an address, with their zeros.
void append_groups(std::string& out, std::string_view address) {
  for (std::size_t at = 0; at < 16; at += 2) {
    if (at > 0) out.push_back(':');
    append_byte(out, address[at]);
    append_byte(out, address[at + 1]);
  }
}

// A sockaddr_in or sockaddr_in6: family, port, and where the address lies.
void append_socket(std::string& out, std::string_view bytes, bool with_port) {
  const auto family = bytes.size() < 2 ? 0 : read_raw<std::uint16_t>(bytes.data());
  const bool is_four = family == AF_INET && bytes.size() >= 8;
  if (!is_four && !(family == AF_INET6 && bytes.size() >= 24)) {
    out.push_back('?');
    return;
  }
  if (!is_four && with_port) out.push_back('[');
  append_internet(out, family, bytes.substr(is_four ? 4 : 8));
  if (!is_four && with_port) out.push_back(']');
  if (!with_port) return;
  out.push_back(':');
  append_number(out, std::uint64_t{ntohs(read_raw<std::uint16_t>(bytes.data() + 2))});
}

void append_uuid(std::string& out, std::string_view bytes, bool upper) {
  const std::size_t start = out.size();
  for (std::size_t at = 0; at < 16; ++at) {
    if (at == 4 || at == 6 || at == 8 || at == 10) out.push_back('-');
    append_byte(out, bytes[at]);
  }
  if (!upper) return;
  for (std::size_t i = start; i < out.size(); ++i) {
    if (out[i] >= 'a') out[i] = static_cast<char>(out[i] - 'a' + 'A');
  }
}

bool has_bit(std::string_view bytes, std::uint64_t bit) {
  return bit / 8 < bytes.size() && (static_cast<unsigned char>(bytes[bit / 8]) >> bit % 8 & 1) != 0;
}

// Appends a list like "0-3,8".
void append_list(std::string& out, std::string_view bytes, std::uint64_t bits) {
  bits = std::min<std::uint64_t>(bits, bytes.size() * 8);
  bool any = false;
  for (std::uint64_t bit = 0; bit < bits; ++bit) {
    if (!has_bit(bytes, bit)) continue;
    const std::uint64_t first = bit;
    while (bit + 1 < bits && has_bit(bytes, bit + 1)) ++bit;
    if (any) out.push_back(',');
    any = true;
    append_number(out, first);
    if (bit == first) continue;
    out.push_back('-');
    append_number(out, bit);
  }
}

std::size_t bytes_wanted(std::string_view kind) {
  if (kind.starts_with("I6") || kind.starts_with('U')) return 16;
  return kind == "I4" ? 4 : kind.starts_with('M') ? 6 : 0;
}

}  // namespace

std::string_view pointer_kind(std::string_view text) {
  const auto* const found = std::ranges::find_if(
      kPointerKinds, [&](std::string_view kind) { return text.starts_with(kind); });
  return found == kPointerKinds.end() ? std::string_view() : *found;
}

void append_pointed(std::string& out, std::string_view kind, std::string_view bytes,
                    std::uint64_t limit) {
  if (bytes.size() < bytes_wanted(kind)) {
    out.push_back('?');
  } else if (kind == "I4") {
    append_internet(out, AF_INET, bytes);
  } else if (kind == "I6c") {
    append_internet(out, AF_INET6, bytes);
  } else if (kind == "I6") {
    append_groups(out, bytes);
  } else if (kind.starts_with("IS")) {
    append_socket(out, bytes, kind.find('p') != kind.npos);
  } else if (kind.starts_with('M')) {
    append_hex_bytes(out, bytes.substr(0, 6), kind == "M" ? ":" : "-");
  } else if (kind.starts_with('U')) {
    append_uuid(out, bytes, kind == "UB");
  } else if (kind == "bl") {
    append_list(out, bytes, limit);
  } else {
    append_bits(out, bytes.substr(0, (limit + 31) / 32 * 4));
  }
}

void append_hex_bytes(std::string& out, std::string_view bytes, std::string_view between) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (at > 0) out.append(between);
    append_byte(out, bytes[at]);
  }
}

void append_array(std::string& out, std::string_view bytes, std::size_t size) {
  out.push_back('{');
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    std::uint64_t value = 0;
    bytes.copy(reinterpret_cast<char*>(&value), size, at);
    if (at > 0) out.push_back(',');
    append_hex(out, value);
  }
  out.push_back('}');
}

void append_bits(std::string& out, std::string_view bytes) {
  for (std::size_t at = bytes.size() / 4 * 4; at > 0; at -= 4) {
    for (std::size_t byte = at; byte-- > at - 4;) append_byte(out, bytes[byte]);
    if (at > 4) out.push_back(',');
  }
}

}  // namespace tallyfs::tracing
