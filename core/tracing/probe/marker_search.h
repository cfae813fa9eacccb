// Finds the places of a marker (USDT) in a program file: section .note.stapsdt. Pure: the file is
// read through its callback.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/tracing/probe/elf_file.h"
#include "core/tracing/probe/found_places.h"
#include "core/tracing/probe/place_name.h"
#include "core/tracing/probe/program_list.h"

namespace tallyfs::tracing {

// All places of the marker, each with its arguments and with the offset of its reference counter,
// which the kernel counts up while the place is on. kInvalid: there is no such marker, or it has
// more than kPlacesMax places; the file is broken. kTooBig.
Result<FoundPlaces> find_marker(const ElfFile& file, const PlaceName& place);

// All markers, by name. kInvalid: the file is broken; kTooBig.
Result<std::vector<ListedMarker>> list_markers(const ElfFile& file);

}  // namespace tallyfs::tracing
