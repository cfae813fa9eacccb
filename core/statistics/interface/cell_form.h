// How feeders count samples of a definition in cells. Pure.
#pragma once

#include "core/model/shape.h"
#include "core/statistics/definition/definition.h"

namespace tallyfs::statistics {

// kNone: they do not; each sample goes by the socket.
CellForm cell_form(const Definition& definition);

}  // namespace tallyfs::statistics
