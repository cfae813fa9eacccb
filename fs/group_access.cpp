#include "fs/group_access.h"

namespace tallyfs {
namespace {

enum class Part {
  kOther,
  kBranch,  // a directory that only its readers enter
  kText,    // for reading
};

bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) &&
         path[directory.size()] == '/';
}

Part part_of_statistics(std::string_view name) {
  const bool is_shown = name == "definition" || name == "data" || name == "data.json";
  return is_shown ? Part::kText : Part::kOther;
}

// Of tracing/, what the owner's group may read: not the histograms of probes, whose keys may be
// texts of programs, a password among them.
Part part_of_tracing(const NodeInfo& node, std::string_view name) {
  const bool is_shared =
      name == "error_log" || (name == "hist.json" && (node.permissions & 0040) != 0);
  return is_shared ? Part::kText : Part::kOther;
}

Part part_of_file(const NodeInfo& node, std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (path == "rules" || path == "statistics.json" || path == "errors.json") return Part::kText;
  if (is_below(path, "stats") || is_below(path, "metrics")) return Part::kText;
  if (is_below(path, "statistics")) return part_of_statistics(name);
  return is_below(path, "tracing") ? part_of_tracing(node, name) : Part::kOther;
}

Part part_of(const NodeInfo& node, std::string_view path, const Groups& groups) {
  if (node.kind == NodeKind::kFile) return part_of_file(node, path);
  const bool is_closed_metrics = path == "metrics" && !groups.all_read_metrics;
  const bool is_branch = path == "statistics" || path == "stats" || is_closed_metrics;
  return is_branch ? Part::kBranch : Part::kOther;
}

}  // namespace

bool is_for_writers(const NodeInfo& node, std::string_view path) {
  if (node.kind == NodeKind::kFile) return (node.permissions & kForWriteGroup) != 0;
  return path == "statistics" || path == "stats" || is_below(path, "stats");
}

Access access_of(const NodeInfo& node, std::string_view path, const Groups& groups, gid_t owner) {
  const unsigned permissions = node.permissions & ~kForWriteGroup;
  const Part part = part_of(node, path, groups);
  Access access{permissions, owner};
  if (part != Part::kOther && groups.readers) {
    access = {part == Part::kBranch ? 0750 : permissions | 0040, *groups.readers};
  }
  if (!groups.writers || !is_for_writers(node, path)) return access;
  const bool is_of_readers = groups.readers && access.gid == *groups.readers;
  return {access.permissions | 0060, is_of_readers ? *groups.readers : *groups.writers};
}

}  // namespace tallyfs
