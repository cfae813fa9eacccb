// The interface of statistics/ that samples are for, or that a file shows. An open of the file
// waits only for samples of its subject.
#pragma once

namespace tallyfs {

// An identity, for comparison alone. After the removal of an interface another one may get the
// same. nullptr: all subjects.
using Subject = const void*;

}  // namespace tallyfs
