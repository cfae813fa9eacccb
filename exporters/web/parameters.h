// The parameters of requests for the API: which ones a request takes, and what they say. Pure
// functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "exporters/web/gate.h"
#include "exporters/web/target.h"
#include "tools/display/heat_colour.h"
#include "tools/past/store.h"

namespace tallyfs::web {

// A parameter that is not known is no wish that goes unheard: a misspelt one would ask for all.
std::optional<std::string> unknown_of(const Target& target, Purpose purpose);
std::optional<std::string> wrong_value_of(const Target& target);
// From `from` to `to`, in microseconds of the wall clock; nothing without them.
std::optional<past::Span> span_of(const Target& target);
view::Steps steps_of(const Target& target);
// Empty without one.
std::string text_parameter(const Target& target, std::string_view name);

}  // namespace tallyfs::web
