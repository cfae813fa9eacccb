#include "core/base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace tallyfs {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // 0x1edc6f41, the lowest bit first
constexpr std::size_t kStep = 8;

using Tables = std::array<std::array<std::uint32_t, 256>, kStep>;

// tables[k][b]: what the byte b does to the checksum when k more bytes come behind it.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = sum;
  }
  for (std::size_t k = 1; k < kStep; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t less = tables[k - 1][byte];
      tables[k][byte] = (less >> 8) ^ tables[0][less & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint32_t step(const char* bytes, std::uint32_t sum) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  word ^= sum;
  std::uint32_t after = 0;
  for (std::size_t k = 0; k < kStep; ++k) {
    after ^= kTables[kStep - 1 - k][(word >> (8 * k)) & 0xff];
  }
  return after;
}

std::uint32_t by_tables(std::string_view& bytes, std::uint32_t sum) {
  for (; bytes.size() >= kStep; bytes.remove_prefix(kStep)) sum = step(bytes.data(), sum);
  return sum;
}

// The processor's instruction takes 3 cycles for 8 bytes, the tables five times as long.
#ifdef __x86_64__
[[gnu::target("sse4.2")]] std::uint32_t by_instruction(std::string_view& bytes, std::uint32_t sum) {
  std::uint64_t wide = sum;
  for (; bytes.size() >= kStep; bytes.remove_prefix(kStep)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  return static_cast<std::uint32_t>(wide);
}
bool has_instruction() { return __builtin_cpu_supports("sse4.2") != 0; }
#else
std::uint32_t by_instruction(std::string_view& bytes, std::uint32_t sum) {
  return by_tables(bytes, sum);
}
constexpr bool has_instruction() { return false; }
#endif

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  std::uint32_t sum =
      has_instruction() ? by_instruction(bytes, ~before) : by_tables(bytes, ~before);
  for (const char byte : bytes) {
    sum = (sum >> 8) ^ kTables[0][(sum ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return ~sum;
}

}  // namespace tallyfs
