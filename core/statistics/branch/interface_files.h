// The files of an interface's directory. Each is called from several threads; the Interface's
// lock is the only one they take.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/base/steps.h"
#include "core/statistics/branch/command_text.h"
#include "core/statistics/definition/own_line.h"
#include "core/statistics/interface/interface.h"
#include "core/tree/file.h"

namespace tallyfs::statistics {

class DefinitionFile final : public File, private Observed, private LineReviewer {
 public:
  // Shared with the tree's names and with the opens under way; an interface that was removed lives
  // until the last of them is done.
  DefinitionFile(std::string name, std::shared_ptr<Interface> interface, Subject subject)
      : name_(std::move(name)), interface_(std::move(interface)), subject_(subject) {}

  Subject subject() const override { return subject_; }

  Result<std::string> render(const CallContext&, std::size_t bytes_max) const override {
    return interface_->render_definition(bytes_max);
  }
  std::optional<std::uint64_t> version(Timestamp now) const override {
    return interface_->version(now);
  }
  Timestamp last_change(Timestamp now) const override { return interface_->last_change(now); }
  const Observed* observed() const override { return this; }
  Result<void> write_line(std::string_view line, const CallContext& call) override {
    const auto read = OwnLine::in_file(line, name_);
    if (!read) return without_strict_mark(read.error(), line);
    const OwnLine& own = read.value();
    LineProgress progress;
    const auto done = work_in_steps([&](const IsLate& is_late) -> Result<Step> {
      const auto step = interface_->define_step(own.text(), call.now, {progress, is_late});
      if (!step) return step.error();
      return step.value() ? Step::kLast : Step::kMore;
    });
    if (done) return done;
    return without_strict_mark(own.place(with_creation(done.error(), name_, own.text())), line);
  }
  LineReviewer* reviewer() override { return this; }

 private:
  FileState look(Timestamp now) const override {
    const Interface::State state = interface_->look(now);
    return {state.version, state.last_change};
  }
  Result<std::string> render_seen(const CallContext&, std::size_t bytes_max) const override {
    return interface_->render_definition(bytes_max, Interface::Look::kDone);
  }
  std::optional<Error> remark(std::string_view line) const override {
    const auto own = OwnLine::in_file(line, name_);
    if (!own) return std::nullopt;
    const auto fault = interface_->remark(own.value().text());
    return fault ? std::optional(without_strict_mark(own.value().place(*fault), line)) : fault;
  }

  const std::string name_;
  std::shared_ptr<Interface> interface_;
  const Subject subject_;
};

class DataFile final : public File, private Observed {
 public:
  DataFile(std::shared_ptr<Interface> interface, Subject subject)
      : interface_(std::move(interface)), subject_(subject) {}

  Subject subject() const override { return subject_; }

  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override {
    return interface_->render_data(call.now, bytes_max);
  }
  std::optional<std::uint64_t> version(Timestamp now) const override {
    return interface_->version(now);
  }
  Timestamp last_change(Timestamp now) const override { return interface_->last_change(now); }
  const Observed* observed() const override { return this; }

 private:
  FileState look(Timestamp now) const override {
    const Interface::State state = interface_->look(now);
    return {state.version, state.last_change};
  }
  Result<std::string> render_seen(const CallContext& call, std::size_t bytes_max) const override {
    return interface_->render_data(call.now, bytes_max, Interface::Look::kDone);
  }
  Result<std::size_t> text_length(const CallContext& call, std::size_t bytes_max) const override {
    return interface_->data_length(call.now, bytes_max);
  }

  std::shared_ptr<Interface> interface_;  // as above
  const Subject subject_;
};

// Both as JSON. There is no version: the text says when it was made.
class DataJsonFile final : public File {
 public:
  DataJsonFile(std::string name, std::uint64_t epoch, std::shared_ptr<Interface> interface,
               Subject subject)
      : name_(std::move(name)),
        epoch_(epoch),
        interface_(std::move(interface)),
        subject_(subject) {}

  Subject subject() const override { return subject_; }

  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override {
    return interface_->render_json(name_, epoch_, call.now, bytes_max);
  }
  Timestamp last_change(Timestamp now) const override { return interface_->last_change(now); }

 private:
  const std::string name_;
  const std::uint64_t epoch_;
  std::shared_ptr<Interface> interface_;  // as above
  const Subject subject_;
};

}  // namespace tallyfs::statistics
