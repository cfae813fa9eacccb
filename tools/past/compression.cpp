#include "tools/past/compression.h"

#include <zstd.h>

#include <memory>

namespace tallyfs::past {
namespace {

// Higher levels save a hundredth of the bytes for half as much time again.
constexpr int kSmallLevel = 12;
constexpr int kFastLevel = 1;
// The level for recordings, whose lines are much alike.
constexpr int kTextLevel = 3;
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

bool can_compress() { return true; }

void StreamPacker::Free::operator()(void* context) const {
  ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(context));
}

StreamPacker::StreamPacker() : context_(ZSTD_createCCtx()) {
  auto* const context = static_cast<ZSTD_CCtx*>(context_.get());
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kTextLevel);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
}

std::string StreamPacker::packed(std::string_view bytes, bool is_end) {
  std::string made;
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  for (std::size_t left = 1; left > 0;) {
    std::string part(ZSTD_CStreamOutSize(), '\0');
    ZSTD_outBuffer out{part.data(), part.size(), 0};
    left = ZSTD_compressStream2(static_cast<ZSTD_CCtx*>(context_.get()), &out, &in,
                                is_end ? ZSTD_e_end : ZSTD_e_flush);
    if (ZSTD_isError(left)) return made;
    made.append(part, 0, out.pos);
  }
  return made;
}

std::string StreamPacker::add(std::string_view bytes) { return packed(bytes, false); }
std::string StreamPacker::end() { return packed({}, true); }

void StreamUnpacker::Free::operator()(void* context) const {
  ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(context));
}

StreamUnpacker::StreamUnpacker() : context_(ZSTD_createDCtx()) {}

bool StreamUnpacker::add(std::string_view bytes, std::string& out) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  for (bool is_full = true; in.pos < in.size || is_full;) {
    std::string part(ZSTD_DStreamOutSize(), '\0');
    ZSTD_outBuffer into{part.data(), part.size(), 0};
    const std::size_t left =
        ZSTD_decompressStream(static_cast<ZSTD_DCtx*>(context_.get()), &into, &in);
    if (ZSTD_isError(left)) return false;
    out.append(part, 0, into.pos);
    is_full = into.pos == into.size;
  }
  return true;
}

}  // namespace tallyfs::past
