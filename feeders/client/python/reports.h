// Lines of text for the program's function, Settings.report. It is called by a thread of the
// module, which starts with the first line: the library's own thread must not wait for the GIL, and
// a thread whose sample is invalid may hold a lock that the function takes. So the function may
// call this module. At most 64 lines wait; older ones are forgotten.
#pragma once

#include "feeders/client/python/python.h"

namespace tallyfs::python {

// Lines go to `function` from now on. Needs the GIL; once.
void begin_reports(PyObject* function);
bool has_reports();
// Any thread, with or without the GIL.
void add_report(const char* text);
// The interpreter is about to end: returns when all lines were told, after a second at the latest.
// Later ones are forgotten. Needs the GIL, and gives it away meanwhile.
void end_reports();

}  // namespace tallyfs::python
