// Reports the results of the lines that a command wrote: refusals and warnings on stderr at once,
// and all of them in one object at the end with --json. Confined to one thread.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/base/result.h"
#include "tools/ctl/session.h"

namespace tallyfs {

class WriteReport {
 public:
  explicit WriteReport(const Session& session) : session_(session) {
    writer_.begin_object().key("lines").begin_array();
  }

  // `where`: what the reason begins with.
  void add(const std::string& where, const std::string& interface, const std::string& line,
           const Result<std::string>& done) {
    writer_.begin_object().key("interface").string(interface).key("line").string(line);
    writer_.key("refused");
    if (done) {
      writer_.null();
      if (!done.value().empty()) writer_.key("warning").string(done.value());
      warn(where, done.value());
    } else {
      writer_.string(done.error().reason);
      status_ = complain(status_of(done.error()), where + ": " + done.error().reason);
    }
    writer_.end_object();
  }
  static void warn(const std::string& where, const std::string& warning) {
    if (warning.empty()) return;
    complain(0, std::string(where).append(": warning: ").append(warning));
  }

  // Returns the exit status: of the last line that was refused, or 0.
  int finish() {
    writer_.end_array().end_object();
    if (session_.options.json) print(text_.append("\n"));
    return status_;
  }

 private:
  const Session& session_;
  std::string text_;
  JsonWriter writer_{text_};
  int status_ = 0;
};

}  // namespace tallyfs
