// How feeders count samples of a definition in cells. Pure.
#pragma once

#include "core/definition/definition.h"
#include "core/model/shape.h"

namespace tallyfs {

// kNone: they do not; each sample goes by the socket.
CellForm cell_form(const Definition& definition);

}  // namespace tallyfs
