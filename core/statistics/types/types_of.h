// Which class keeps the data of which type: each class says it for the settings of its own, in its
// header. types.h has them all.
#pragma once

namespace tallyfs::statistics {

template <typename Settings>
struct TypeOf;

}  // namespace tallyfs::statistics
