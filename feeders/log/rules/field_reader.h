// The fields of a line that is an object of JSON, or logfmt (key=value key="value" ...). Of JSON, a
// field is the path to a string, a number, true or false: `request.seconds`; numbers are as the
// text has them. null is absent. Of a key that is there twice the last one counts.
//
// Bounds: 32 objects and arrays within one another; elements of arrays are no fields.
// Confined to one thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "feeders/log/rules/rules.h"

namespace tallyfs::logs {

class FieldReader {
 public:
  // form: not kText. fields: what is looked for.
  FieldReader(LineForm form, const std::vector<std::string>& fields);
  ~FieldReader();
  FieldReader(FieldReader&&) noexcept;
  FieldReader& operator=(FieldReader&&) noexcept;

  // The values in the order of the fields, until the next call. Nothing: the line is not of the
  // form.
  std::optional<std::span<const std::optional<std::string_view>>> read(std::string_view line);

 private:
  class Json;
  bool read_logfmt(std::string_view line);
  void set(std::string_view key, std::string_view value);

  LineForm form_;
  std::vector<std::string> fields_;
  std::vector<std::optional<std::string_view>> values_;
  std::vector<std::string> texts_;  // of values that are not as the line has them
  std::unique_ptr<Json> json_;
};

}  // namespace tallyfs::logs
