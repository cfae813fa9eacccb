// The data of a statistic of any type, and what is done by type: made from a definition, and how
// much memory it may come to hold. The types are those of core/statistics/definition's list; one
// whose class is missing here does not compile. Values, confined as their owner is.
#pragma once

#include <chrono>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "core/statistics/definition/definition.h"
#include "core/statistics/types/array_statistic.h"
#include "core/statistics/types/history_statistic.h"
#include "core/statistics/types/last_statistic.h"
#include "core/statistics/types/list_statistic.h"
#include "core/statistics/types/quantiles_statistic.h"
#include "core/statistics/types/range_statistic.h"
#include "core/statistics/types/raw_statistic.h"
#include "core/statistics/types/statistic_type.h"
#include "core/statistics/types/types_of.h"
#include "core/statistics/types/value_statistic.h"

namespace tallyfs::statistics {

template <StatisticType... Classes>
using OneTypeOf = std::variant<Classes...>;
template <typename... S>
OneTypeOf<typename TypeOf<S>::Type...> data_of(const std::variant<S...>&);

// One alternative for each of Settings, in the same order.
using TypeData = decltype(data_of(std::declval<Settings>()));

// Empty. The definition came out of apply().
inline TypeData make_type_data(const Definition& definition, std::chrono::nanoseconds now) {
  return std::visit(
      [&]<typename S>(const S& settings) -> TypeData {
        using Type = typename TypeOf<S>::Type;
        if constexpr (std::is_constructible_v<Type, const S&, const Definition&,
                                              std::chrono::nanoseconds>) {
          return Type(settings, definition, now);
        } else if constexpr (std::is_constructible_v<Type, const S&, const Definition&>) {
          return Type(settings, definition);
        } else {
          return Type(settings);
        }
      },
      definition.settings);
}

// Heap that data of such a definition may come to hold.
inline std::uint64_t worst_case_bytes(const Definition& definition) {
  return std::visit(
      [&]<typename S>(const S& settings) -> std::uint64_t {
        using Type = typename TypeOf<S>::Type;
        if constexpr (requires { Type::worst_case_bytes(settings, definition); }) {
          return Type::worst_case_bytes(settings, definition);
        } else {
          return Type::worst_case_bytes(settings);
        }
      },
      definition.settings);
}

}  // namespace tallyfs::statistics
