// What samples may be for and a file may be about: an interface of statistics/. So an open of the
// file need not wait for samples of other subjects.
#pragma once

namespace tallyfs {

// Compared only. That of an interface that was removed may become another one's. nullptr: anything.
using Subject = const void*;

}  // namespace tallyfs
