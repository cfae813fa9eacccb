// Blobs and single statistics as text, in FreeBSD's two formats, freeform and JSON (examples:
// tests/golden/stats3).
//
// Pure: any thread, on blobs that check_blob() let pass or that this process made.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/stats3/blob/layout.h"
#include "core/stats3/blob/templates.h"

namespace tallyfs::stats3::blob {

// The parts shown: measured values only, or all fields and slots.
enum class Detail { kPlain, kObjdump };

// In the tree, buckets that are 0 at both ends of a histogram are left out of freeform, and two
// VOIs of one name have different keys in JSON: name, name#2.
enum class Audience { kProgram, kTree };

struct TextOptions {
  sb_str_fmt format = SB_STRFMT_FREEFORM;
  Detail detail = Detail::kPlain;
  Audience audience = Audience::kProgram;
  const TemplateNames* names = nullptr;  // META; names beyond those that it has are empty
  std::string_view address;              // what freeform shows behind struct statsblobv1@
};

std::string render(const statsblob* sb, const TextOptions& options);

// The data of one statistic, without braces, and a number without a key. Nothing: no such type, or
// `bytes` is no size of it.
std::optional<std::string> render_data(const std::uint8_t* data, unsigned voi_dtype, unsigned dtype,
                                       std::size_t bytes, sb_str_fmt format, Detail detail);

const char* name_of_stype(int stype);
const char* name_of_dtype(unsigned dtype);

}  // namespace tallyfs::stats3::blob
