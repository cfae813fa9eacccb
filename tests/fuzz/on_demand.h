// A branch that is made when an input first needs it, and again after renew(): to make one takes
// longer than to carry out most inputs. Confined to one thread.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "core/branch/branch.h"

namespace tallyfs::fuzz {

template <typename Made>
class OnDemand final : public Branch {
 public:
  using Make = std::function<std::unique_ptr<Made>()>;

  // The first ever calls make, too, for what the branch handles; forget, whenever it has been
  // destroyed, takes what it left in its tree.
  OnDemand(Make make, std::function<void()> forget)
      : make_(std::move(make)), forget_(std::move(forget)), handled_(handled_by_any()) {}

  Handled handles() const override { return handled_; }
  Result<Done> execute(const wire::Line& line, Call& call) override {
    return noted(made().execute(line, call));
  }
  Result<Done> take(const wire::Message& message, Call& call) override {
    taken_ |= Alternatives{1} << message.index();
    return noted(made().take(message, call));
  }
  bool process_ended(pid_t process, Timestamp now, const IsLate& is_late) override {
    return !made_ || made_->process_ended(process, now, is_late);
  }

  Made& made() {
    if (!made_) made_ = make_();
    return *made_;
  }
  // Since it was made, something was carried out, be it in part.
  bool is_changed() const { return is_changed_; }
  // It may have been changed from elsewhere, too.
  void note_changed() {
    is_changed_ = true;
    taken_ = ~Alternatives{0};
  }
  // It was given such a message since it was made.
  bool has_taken(Alternatives messages) const { return (taken_ & messages) != 0; }
  // What changed was taken back.
  void is_as_made() { is_changed_ = false; }
  void renew() {
    is_changed_ = false;
    taken_ = 0;
    if (!made_) return;
    made_.reset();
    forget_();
  }

 private:
  Handled handled_by_any() {
    static const Handled handled = made().handles();
    renew();
    return handled;
  }
  Result<Done> noted(Result<Done> done) {
    is_changed_ |= done || !changes_nothing(done.error().code);
    return done;
  }
  static bool changes_nothing(ErrorCode code) {
    return code == ErrorCode::kStale || code == ErrorCode::kNotFound ||
           code == ErrorCode::kNotPermitted;
  }

  Make make_;
  std::function<void()> forget_;
  std::unique_ptr<Made> made_;
  bool is_changed_ = false;
  Alternatives taken_ = 0;
  const Handled handled_;
};

}  // namespace tallyfs::fuzz
