#include "tools/past/compression.h"

#include <zstd.h>

#include <memory>

namespace tallyfs::past {
namespace {

// Higher levels save a hundredth of the bytes for half as much time again.
constexpr int kSmallLevel = 12;
constexpr int kFastLevel = 1;
// A shorter match of numbers takes more bytes than it saves: without this the fast ones have a
// thirtieth more.
constexpr int kMatchMin = 7;

struct Free {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

ZSTD_CCtx* writing_context() {
  thread_local const std::unique_ptr<ZSTD_CCtx, Free> kContext = [] {
    std::unique_ptr<ZSTD_CCtx, Free> made(ZSTD_createCCtx());
    ZSTD_CCtx_setParameter(made.get(), ZSTD_c_minMatch, kMatchMin);
    ZSTD_CCtx_setParameter(made.get(), ZSTD_c_checksumFlag, 1);
    return made;
  }();
  return kContext.get();
}

ZSTD_DCtx* reading_context() {
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> kContext(ZSTD_createDCtx());
  return kContext.get();
}

}  // namespace

std::string compress(std::string_view bytes, Effort effort) {
  ZSTD_CCtx_setParameter(writing_context(), ZSTD_c_compressionLevel,
                         effort == Effort::kSmall ? kSmallLevel : kFastLevel);
  std::string made(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(writing_context(), made.data(), made.size(), bytes.data(), bytes.size());
  made.resize(ZSTD_isError(size) ? 0 : size);
  return made;
}

std::optional<std::string> decompress(std::string_view frame, std::size_t size) {
  std::string made(size, '\0');
  const std::size_t found =
      ZSTD_decompressDCtx(reading_context(), made.data(), made.size(), frame.data(), frame.size());
  if (ZSTD_isError(found) || found != size) return std::nullopt;
  return made;
}

}  // namespace tallyfs::past
