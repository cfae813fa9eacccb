// The types of snapshots: what snapshot() of a class returns by value, for each alternative of a
// variant.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

namespace tallyfs::statistics {

template <typename T>
using SnapshotOf = std::remove_cvref_t<decltype(std::declval<const T&>().snapshot())>;

template <typename... T>
std::variant<SnapshotOf<T>...> snapshots_of(const std::variant<T...>&);

template <typename Variant>
using SnapshotsOf = decltype(snapshots_of(std::declval<const Variant&>()));

}  // namespace tallyfs::statistics
