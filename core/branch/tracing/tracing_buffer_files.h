// The files of what an instance has traced beside `trace` and `snapshot`: trace_pipe, per_cpu/,
// saved_cmdlines; and those that say what is traced, and how much of it is kept.
//
// As TracingFile. trace_pipe hands each record to one reader only, whoever comes first.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/branch/tracing/tracing_files.h"

namespace tallyfs {

class BufferFile final : public TracingFile {
 public:
  enum class Kind {
    kTracePipe,
    kBufferSize,
    kBufferTotalSize,
    kSavedCmdlines,
    kSavedCmdlinesSize,
    kTracingCpumask,
    kSetEventNotracePid,
    kTimestampMode,
    kCpuTrace,
    kCpuStats,
  };
  // What buffer_size_kb can come to, of all CPUs together.
  static constexpr std::uint64_t kTraceBytesMax = 128u << 20;

  // cpu: of kCpuTrace and kCpuStats.
  BufferFile(TracingShared state, Tracing::State::Instance instance, Kind kind,
             std::uint32_t cpu = 0)
      : TracingFile(std::move(state), std::move(instance)), kind_(kind), cpu_(cpu) {}

  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override;
  bool waits() const override;
  bool is_stream() const override { return kind_ == Kind::kTracePipe; }
  std::string next(Moment now) override;
  bool is_over() const override;
  std::optional<std::uint64_t> news(Moment now) const override;
  Result<void> write_line(std::string_view text, const CallContext& call) override;
  Result<void> truncate(const CallContext& call) override;

 private:
  Result<std::string> render_of_cpu(const CallContext& call, std::size_t bytes_max) const;
  Result<void> write_cmdlines_size(std::string_view text, const CallContext& call);
  Result<void> write_size(std::string_view text, const CallContext& call);

  const Kind kind_;
  const std::uint32_t cpu_;
};

}  // namespace tallyfs
