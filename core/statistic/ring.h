// The newest elements, at most a given number of them. Grows up to that bound as elements come,
// so that a generous bound costs nothing until it is used. Confined to whoever holds it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace tally {

template <typename T>
class Ring {
 public:
  // bound >= 1.
  explicit Ring(std::size_t bound) : bound_(bound) {}

  std::size_t size() const { return elements_.size(); }
  bool empty() const { return elements_.empty(); }
  // 0 is the oldest; i < size().
  T& operator[](std::size_t i) { return elements_[place(i)]; }
  const T& operator[](std::size_t i) const { return elements_[place(i)]; }
  T& newest() { return (*this)[size() - 1]; }
  const T& newest() const { return (*this)[size() - 1]; }

  void push(const T& element) { push(std::span(&element, 1)); }
  // In their order; the oldest make room.
  void push(std::span<const T> elements) {
    if (elements.size() > bound_) elements = elements.last(bound_);
    const std::size_t appended = std::min(elements.size(), bound_ - size());
    reserve(size() + appended);
    elements_.insert(elements_.end(), elements.begin(),
                     elements.begin() + static_cast<std::ptrdiff_t>(appended));
    overwrite(elements.subspan(appended));
  }

 private:
  std::size_t place(std::size_t i) const {
    const std::size_t at = oldest_ + i;
    return at < elements_.size() ? at : at - elements_.size();
  }
  // Doubles, but never beyond the bound, which is what the ledger was told.
  void reserve(std::size_t size) {
    if (size > elements_.capacity()) {
      elements_.reserve(std::min(bound_, std::max(size, 2 * elements_.capacity())));
    }
  }
  // The ring is full; elements.size() <= bound_.
  void overwrite(std::span<const T> elements) {
    while (!elements.empty()) {
      const std::size_t fits = std::min(elements.size(), bound_ - oldest_);
      std::copy_n(elements.begin(), fits, elements_.begin() + static_cast<std::ptrdiff_t>(oldest_));
      oldest_ = oldest_ + fits == bound_ ? 0 : oldest_ + fits;
      elements = elements.subspan(fits);
    }
  }

  std::size_t bound_;
  std::size_t oldest_ = 0;  // place of the oldest; 0 until the ring is full
  std::vector<T> elements_;
};

}  // namespace tally
