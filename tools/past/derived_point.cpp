#include "tools/past/derived_point.h"

#include <variant>

#include "tools/past/marks.h"

namespace tallyfs::past {
namespace {

// Visits the values of a view. Each type says from which types of a source it can be derived, so
// that a new type does not compile until it does.
class Chooser {
 public:
  Chooser(const view::Statistic& source, const view::Statistic& of_view)
      : source_(source), view_(of_view) {}

  Derivation operator()(const view::Value&) const {
    const bool is_of_x = view_.key("mode") == "products";
    if (is<view::Value>()) {
      return (source_.key("mode") == "products") == is_of_x ? Derivation::kAll : Derivation::kNone;
    }
    if (is<view::Range>() || is<view::Quantiles>()) {
      return is_of_x ? Derivation::kTotal : Derivation::kNumber;
    }
    // Their cells say how many samples there were, and not exactly what X they had.
    const bool has_cells = is<view::Array>() || is<view::List>();
    return has_cells && !is_of_x ? Derivation::kCount : Derivation::kNone;
  }
  Derivation operator()(const view::Range&) const {
    return is<view::Quantiles>() ? Derivation::kRange : same<view::Range>();
  }
  Derivation operator()(const view::List&) const { return same<view::List>(); }
  // The bounds of an array lie within buckets of quantiles, and its bins have no percentiles.
  Derivation operator()(const view::Array&) const { return same<view::Array>(); }
  Derivation operator()(const view::Quantiles&) const { return same<view::Quantiles>(); }
  Derivation operator()(const view::Last&) const { return same<view::Last>(); }
  // They are never stored.
  Derivation operator()(const view::Raw&) const { return Derivation::kNone; }
  Derivation operator()(const view::History&) const { return Derivation::kNone; }

 private:
  template <typename Type>
  bool is() const {
    return std::holds_alternative<Type>(source_.values);
  }
  template <typename Type>
  Derivation same() const {
    return is<Type>() ? Derivation::kAll : Derivation::kNone;
  }

  const view::Statistic& source_;
  const view::Statistic& view_;
};

}  // namespace

Derivation derivation_of(const view::Statistic& source, const view::Statistic& of_view) {
  return std::visit(Chooser(source, of_view), of_view.values);
}

Point derived_point(const Point& source, Derivation how, const Precisions& precisions) {
  if (how == Derivation::kAll) {
    Point made = source;
    lower_precision(made, precisions.source, precisions.of_view);
    return made;
  }
  Point made{.known = source.known, .samples = source.samples};
  made.out_of_range = source.out_of_range;
  made.missed = source.missed;
  switch (how) {
    case Derivation::kNone:
    case Derivation::kAll:
      break;
    case Derivation::kRange:
      made.number = source.number;
      made.total = source.total;
      made.min = source.min;
      made.max = source.max;
      break;
    case Derivation::kTotal:
      made.total = source.total;
      break;
    case Derivation::kNumber:
      made.total = static_cast<Int128>(source.number);
      break;
    case Derivation::kCount:
      made.total = static_cast<Int128>(counted(source.cells));
      break;
  }
  return made;
}

bool is_derived(const Point& of_view, const Point& source, Derivation how,
                const Precisions& precisions) {
  if (how == Derivation::kNone || of_view.samples != source.samples) return false;
  if (how == Derivation::kAll && precisions.of_view >= precisions.source) return of_view == source;
  return of_view == derived_point(source, how, precisions);
}

}  // namespace tallyfs::past
