#include "fs/group_access.h"

namespace tallyfs {
namespace {

enum class Part {
  kOther,
  kBranch,      // a directory that only its readers enter
  kText,        // for reading
  kDefinition,  // how samples are counted
};

bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) &&
         path[directory.size()] == '/';
}

Part part_of_statistics(std::string_view name) {
  if (name == "definition") return Part::kDefinition;
  return name == "data" || name == "data.json" ? Part::kText : Part::kOther;
}

Part part_of_file(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (path == "rules") return Part::kDefinition;
  if (path == "statistics.json" || path == "errors.json") return Part::kText;
  if (is_below(path, "stats") || is_below(path, "metrics")) return Part::kText;
  if (is_below(path, "statistics")) return part_of_statistics(name);
  const bool is_shared = name == "error_log" || name == "hist.json";
  return is_below(path, "tracing") && is_shared ? Part::kText : Part::kOther;
}

Part part_of(const NodeInfo& node, std::string_view path, const Groups& groups) {
  if (node.kind == NodeKind::kFile) return part_of_file(path);
  const bool is_closed_metrics = path == "metrics" && !groups.all_read_metrics;
  const bool is_branch = path == "statistics" || path == "stats" || is_closed_metrics;
  return is_branch ? Part::kBranch : Part::kOther;
}

}  // namespace

Access access_of(const NodeInfo& node, std::string_view path, const Groups& groups, gid_t owner) {
  const Part part = part_of(node, path, groups);
  if (part == Part::kDefinition && groups.writers) {
    return {node.permissions | 0060, *groups.writers};
  }
  if (part == Part::kOther || !groups.readers) return {node.permissions, owner};
  if (part == Part::kBranch) return {0750, *groups.readers};
  return {node.permissions | 0040, *groups.readers};
}

}  // namespace tallyfs
