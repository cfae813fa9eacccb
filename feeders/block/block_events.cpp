#include "feeders/block/block_events.h"

#include <algorithm>
#include <cstring>

namespace tallyfs {
namespace {

// A flush is issued at sector 0 and completed at "no sector" (Linux 6.18).
constexpr std::uint64_t kNoSector = ~std::uint64_t{0};

}  // namespace

Result<BlockEvents::Layout> BlockEvents::layout_of(const tracing::EventFormat& format) {
  auto device = tracing::TraceNumber::find(format, "dev");
  auto sector = tracing::TraceNumber::find(format, "sector");
  auto sectors = tracing::TraceNumber::find(format, "nr_sector");
  auto rwbs = format.field("rwbs");
  if (!device) return device.error();
  if (!sector) return sector.error();
  if (!sectors) return sectors.error();
  if (!rwbs) return rwbs.error();
  const std::size_t bytes_min =
      std::max({device.value().end(), sector.value().end(), sectors.value().end(),
                std::size_t{rwbs.value().end()}, sizeof format.id});
  return Layout{format.id,
                bytes_min,
                std::move(device.value()),
                std::move(sector.value()),
                std::move(sectors.value()),
                std::move(rwbs.value())};
}

Result<BlockEvents> BlockEvents::create(const tracing::EventFormat& issue,
                                        const tracing::EventFormat& requeue,
                                        const tracing::EventFormat& complete) {
  auto issued = layout_of(issue);
  auto requeued = layout_of(requeue);
  auto completed = layout_of(complete);
  auto bytes = tracing::TraceNumber::find(issue, "bytes");
  if (!issued) return issued.error();
  if (!requeued) return requeued.error();
  if (!completed) return completed.error();
  if (!bytes) return bytes.error();
  issued.value().bytes_min = std::max(issued.value().bytes_min, bytes.value().end());
  return BlockEvents(std::move(issued.value()), std::move(bytes.value()),
                     std::move(requeued.value()), std::move(completed.value()));
}

const BlockEvents::Layout* BlockEvents::find(std::span<const char> payload) const {
  std::uint16_t id = 0;
  if (payload.size() < sizeof id) return nullptr;
  std::memcpy(&id, payload.data(), sizeof id);
  const Layout* const found = id == issue_.id      ? &issue_
                              : id == complete_.id ? &complete_
                              : id == requeue_.id  ? &requeue_
                                                   : nullptr;
  return found && payload.size() >= found->bytes_min ? found : nullptr;
}

std::optional<RequestEvent> BlockEvents::decode(std::chrono::nanoseconds time,
                                                std::span<const char> payload) const {
  const Layout* const layout = find(payload);
  if (!layout) return std::nullopt;
  const std::string_view rwbs(payload.data() + layout->rwbs.offset, layout->rwbs.size);
  const std::uint64_t sector = layout->sector.read(payload);
  RequestEvent event{
      .kind = layout == &issue_     ? RequestEvent::Kind::kIssue
              : layout == &requeue_ ? RequestEvent::Kind::kRequeue
                                    : RequestEvent::Kind::kComplete,
      .device = static_cast<DeviceNumber>(layout->device.read(payload)),
      .operation = operation_of(rwbs.substr(0, rwbs.find('\0'))),
      .sector = sector == kNoSector ? 0 : sector,
      .sectors = static_cast<std::uint32_t>(layout->sectors.read(payload)),
      .time = time,
  };
  if (layout == &issue_) event.bytes = static_cast<std::uint32_t>(issue_bytes_.read(payload));
  return event;
}

}  // namespace tallyfs
