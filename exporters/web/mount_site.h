// The site of a mount: the page, the API of docs/web.md, and metrics.
//
// Readings for the API exclude one another, so that those that wait find a fresh one. Metrics and
// what tracing/ has are read beside them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/base/mutex.h"
#include "exporters/web/changes.h"
#include "exporters/web/family.h"
#include "exporters/web/gate.h"
#include "exporters/web/kept_orders.h"
#include "exporters/web/scrape.h"
#include "exporters/web/server.h"
#include "exporters/web/span.h"
#include "exporters/web/target.h"
#include "exporters/web/tracing_site.h"
#include "exporters/web/watch.h"
#include "tools/tree/source.h"

namespace tallyfs::web {

class MountSite : public Site {
 public:
  enum class Serves { kAll, kMetrics };

  // How far back it goes by itself, and the directory of a store that goes further, if there is
  // one.
  struct Keeps {
    std::chrono::seconds time;
    std::string store;
  };

  MountSite(std::unique_ptr<Source> source, Keeps keeps, Access access, Serves serves,
            Scrape::Names names);

  bool is_of_holder(const Request& request) const override { return has_token(request, access_); }
  std::optional<Response> answer_at_once(const Request& request) override;
  Response answer(const Request& request) override;
  void tick() override;
  void count_limit(Limit limit) override { scrape_.count_limit(limit); }

 private:
  Response read(const Target& target);
  Response overview(const Target& target) REQUIRES(mutex_);
  Response interface(const Target& target) REQUIRES(mutex_);
  Response changed() EXCLUDES(mutex_);
  // Why an interface cannot be looked at, with the name that was meant.
  Error not_followed(const Error& error, const std::string& interface) const REQUIRES(mutex_);
  Result<KeptSpan> kept(const std::string& interface, const std::string& name,
                        const std::optional<past::Span>& span) EXCLUDES(mutex_);
  Result<PastReading> past(const Target& target) EXCLUDES(mutex_);
  Result<PastReading> past_of_sum(const Target& target, const std::string& label)
      EXCLUDES(mutex_);
  Response over_time(const Target& target) EXCLUDES(mutex_);
  Response span(const Target& target) EXCLUDES(mutex_);
  Response trace(const Target& target);
  Response health();
  Response change(const Request& request, const std::string& interface);

  const Access access_;
  const Serves serves_;
  const std::string store_;
  Scrape scrape_;
  TracingSite tracing_;
  Changes changes_;
  Mutex mutex_{LockRank::kMountSite};
  Watch watch_ GUARDED_BY(mutex_);
  KeptOrders orders_ GUARDED_BY(mutex_);
  KeptFamilies families_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs::web
