#include "core/branch/state.h"

#include <cstdint>

namespace tallyfs {
namespace {

class FileSink final : public ObjectSink {
 public:
  FileSink(const StateHeader& header, const StateOutput& output)
      : output_(output), writer_(header, piece_) {}

  bool put(const SavedObject& object) override {
    if (!done_) return false;
    if (object.bytes.size() > kObjectBytesMax || object.label.size() > kLabelBytesMax) {
      done_ = Error{ErrorCode::kTooBig, "an object is too long"};
      return false;
    }
    writer_.begin_object(object);
    if (object.bytes.size() < kPieceBytes) {
      piece_.append(object.bytes);
    } else {
      pass_on();
      pass_on(object.bytes);
    }
    if (piece_.size() >= kPieceBytes) pass_on();
    return done_.has_value();
  }

  Result<SavedState> finish() {
    writer_.end();
    pass_on();
    if (!done_) return done_.error();
    return SavedState{writer_.objects(), bytes_};
  }

 private:
  void pass_on() {
    pass_on(piece_);
    piece_.clear();
  }
  void pass_on(std::string_view bytes) {
    if (!done_) return;
    done_ = output_(bytes);
    bytes_ += bytes.size();
  }

  const StateOutput& output_;
  std::string piece_;
  StateWriter writer_;
  std::uint64_t bytes_ = 0;
  Result<void> done_;
};

Result<void> load(const SavedObject& object, std::span<Branch* const> branches,
                  const Loading& loading) {
  for (Branch* const branch : branches) {
    if ((branch->handles().objects & kind_bit(object.kind)) != 0) {
      return branch->load(object, loading);
    }
  }
  return Error{ErrorCode::kInvalid,
               "this version knows no kind " + std::to_string(object.kind)};
}

Result<void> load(const SavedObject& object, const TransferTargets& to, const Loading& loading) {
  for (TransferredPart* const part : to.parts) {
    if ((part->objects() & kind_bit(object.kind)) != 0) {
      return part->load(object, loading, to.descriptors);
    }
  }
  return load(object, to.branches, loading);
}

std::string fault_of(const SavedObject& object, const Error& error) {
  std::string fault(name_of(static_cast<SavedKind>(object.kind)));
  fault.append(" '").append(object.label).append("' is left out: ");
  return fault.append(error.reason);
}

template <typename Load>
LoadedState load_each(const StateFile& file, Load load) {
  LoadedState loaded{.faults = file.faults};
  for (const SavedObject& object : file.objects) {
    if (const auto done = load(object)) {
      ++loaded.objects;
    } else {
      loaded.faults.push_back(fault_of(object, done.error()));
      ++loaded.left_out[name_of(static_cast<SavedKind>(object.kind))];
    }
  }
  return loaded;
}

}  // namespace

Result<SavedState> save_state(const StateHeader& header, std::span<Branch* const> branches,
                              const StateOutput& output) {
  const auto put = [branches](ObjectSink& sink) {
    for (const Branch* const branch : branches) branch->save(sink);
  };
  return save_objects(header, put, output);
}

Result<SavedState> save_objects(const StateHeader& header,
                                const std::function<void(ObjectSink& sink)>& put,
                                const StateOutput& output) {
  FileSink sink(header, output);
  put(sink);
  return sink.finish();
}

std::uint64_t state_stamp(std::span<Branch* const> branches, Timestamp now) {
  std::uint64_t stamp = 0;
  for (const Branch* const branch : branches) stamp += branch->stamp(now);
  return stamp;
}

Boot boot_of(const StateHeader& header, const BootId& boot, Timestamp now) {
  if (header.saved.monotonic > now.monotonic) return Boot::kOther;
  return boot_of(header.boot, boot);
}

LoadedState load_state(const StateFile& file, std::span<Branch* const> branches, const BootId& boot,
                       Timestamp now) {
  const Loading loading{.boot = boot_of(file.header, boot, now), .now = now};
  return load_each(file, [&](const SavedObject& each) { return load(each, branches, loading); });
}

std::string summary_of_faults(const LoadedState& loaded) {
  if (loaded.faults.empty()) return {};
  std::string text(loaded.faults.front());
  const std::size_t others = loaded.faults.size() - 1;
  if (others == 0) return text;
  text.append(", and ").append(std::to_string(others)).append(" more");
  const char* before = "; left out by kind: ";
  for (const auto& [kind, count] : loaded.left_out) {
    text.append(before).append(kind).append(" ").append(std::to_string(count));
    before = ", ";
  }
  return text;
}

void report_left_out(const LoadedState& loaded, const std::string& from, std::string_view remark,
                     DaemonCounters& counters, ErrorLog& errors, Timestamp now) {
  counters.count("state_left_out", loaded.faults.size(), now);
  errors.report(ErrorLog::kDaemon, "state", from,
                {ErrorCode::kInvalid, summary_of_faults(loaded).append(remark)}, now);
}

LoadedState take_state(const StateFile& file, const TransferTargets& to, const Loading& loading) {
  auto loaded = load_each(file, [&](const SavedObject& each) { return load(each, to, loading); });
  for (Branch* const branch : to.branches) {
    auto done = branch->end_loading(loading);
    if (!done) loaded.faults.push_back(done.error().reason);
  }
  return loaded;
}

std::string objects_text(const LoadedState& loaded) {
  return std::to_string(loaded.objects).append(loaded.objects == 1 ? " object" : " objects");
}

}  // namespace tallyfs
