#include "fs/daemon/privileges.h"

#include <cap-ng.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace tallyfs {
namespace {

// (uid_t)-1 means "leave it" to the kernel.
std::optional<unsigned> number_in(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == -1u) return std::nullopt;
  return value;
}

Error unknown(const char* what, const std::string& name) {
  return {ErrorCode::kNotFound, std::string("there is no ") + what + " '" + name + "'"};
}

Result<gid_t> find_group(const std::string& name) {
  if (const auto number = number_in(name)) return *number;
  if (const group* const found = ::getgrnam(name.c_str())) return found->gr_gid;
  return unknown("group", name);
}

Result<void> forbid_new_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) return {};
  return Error{ErrorCode::kNotPermitted,
               std::string("cannot renounce privileges: ") + std::strerror(errno)};
}

Error refused(const char* what) {
  return {ErrorCode::kNotPermitted, std::string("cannot ") + what + ": " + std::strerror(errno)};
}

// In some containers, and in a service without CAP_SETPCAP, we may not cut the bounding set;
// NO_NEW_PRIVS still holds there. libcap-ng would write to syslog that it cannot.
void cut_bounding_set(std::span<const unsigned> left = {}) {
  capng_get_caps_process();
  if (capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP) == 0) return;
  capng_clear(CAPNG_SELECT_BOUNDS);
  for (const unsigned each : left) capng_update(CAPNG_ADD, CAPNG_BOUNDING_SET, each);
  (void)capng_apply(CAPNG_SELECT_BOUNDS);
}

void make_inheritable(const std::vector<unsigned>& capabilities) {
  for (const unsigned each : capabilities) capng_update(CAPNG_ADD, CAPNG_INHERITABLE, each);
  (void)capng_apply(CAPNG_SELECT_CAPS);
}

// Those of `wanted` that there are: in a container, root may lack some.
Result<void> keep_only(std::span<const unsigned> wanted, std::span<const unsigned> for_programs,
                       Executes executes) {
  const bool is_inherited = executes == Executes::kOwnProgram;
  const auto kept = static_cast<capng_type_t>(CAPNG_EFFECTIVE | CAPNG_PERMITTED |
                                              (is_inherited ? CAPNG_INHERITABLE : 0));
  capng_get_caps_process();
  std::vector<unsigned> held;
  for (const unsigned each : wanted) {
    if (capng_have_capability(CAPNG_PERMITTED, each) != 0) held.push_back(each);
  }
  // What is not in the bounding set cannot be made inheritable.
  if (is_inherited) make_inheritable(held);
  cut_bounding_set(for_programs);
  capng_clear(CAPNG_SELECT_CAPS);
  for (const unsigned each : held) capng_update(CAPNG_ADD, kept, each);
  if (capng_apply(CAPNG_SELECT_CAPS) != 0) return refused("drop capabilities");
  return forbid_new_privileges();
}

Result<void> renounce_capabilities() {
  cut_bounding_set();
  capng_clear(CAPNG_SELECT_CAPS);
  if (capng_apply(CAPNG_SELECT_CAPS) != 0) return refused("drop capabilities");
  return forbid_new_privileges();
}

Result<void> become(const Identity& identity) {
  cut_bounding_set();
  if (::setgroups(0, nullptr) != 0) return refused("leave root's groups");
  if (::setresgid(identity.gid, identity.gid, identity.gid) != 0)
    return refused("change the group");
  // This drops all capabilities, too.
  if (::setresuid(identity.uid, identity.uid, identity.uid) != 0) return refused("change the user");
  return forbid_new_privileges();
}

}  // namespace

Result<Identity> find_identity(const std::string& text) {
  const auto colon = text.find(':');
  const std::string user = text.substr(0, colon);
  const auto number = number_in(user);
  const passwd* const account = number ? ::getpwuid(*number) : ::getpwnam(user.c_str());
  if (!account && !number) return unknown("user", user);
  Identity identity{.uid = account ? account->pw_uid : *number,
                    .gid = account ? account->pw_gid : 0};
  if (colon == std::string::npos) {
    if (!account)
      return Error{ErrorCode::kNotFound, "uid " + user + " has no account; say " + user + ":GROUP"};
    return identity;
  }
  auto group = find_group(text.substr(colon + 1));
  if (!group) return group.error();
  identity.gid = group.value();
  return identity;
}

Result<std::optional<Identity>> identity_for(const std::string& run_as) {
  if (run_as.empty()) return std::optional<Identity>();
  if (::geteuid() != 0) {
    return Error{ErrorCode::kNotPermitted, "only root can become another user (--run-as)"};
  }
  auto identity = find_identity(run_as);
  if (!identity) return Error{identity.error().code, "--run-as: " + identity.error().reason};
  return std::optional(identity.value());
}

bool mounts_by_capability() {
  if (::geteuid() == 0) return false;
  capng_get_caps_process();
  return capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN) != 0;
}

Result<Groups> find_groups(const std::string& readers, const std::string& writers) {
  Groups groups;
  for (const auto& [option, name, found] :
       {std::tuple("--group: ", &readers, &groups.readers),
        std::tuple("--write-group: ", &writers, &groups.writers)}) {
    if (name->empty()) continue;
    const auto gid = find_group(*name);
    if (!gid) return Error{gid.error().code, option + gid.error().reason};
    *found = gid.value();
  }
  return groups;
}

Result<void> drop_privileges(const std::optional<Identity>& to, Executes executes,
                             GivesFiles gives) {
  if (mounts_by_capability()) return renounce_capabilities();
  if (::geteuid() != 0) return {};
  return to && to->uid != 0 ? become(*to) : keep_only_what_unmounts(executes, gives);
}

void keep_to_oneself() {
  capng_get_caps_process();
  for (unsigned each = 0; each <= CAP_LAST_CAP; ++each) {
    capng_update(CAPNG_DROP, CAPNG_INHERITABLE, each);
  }
  (void)capng_apply(CAPNG_SELECT_CAPS);
}

Result<void> keep_only_what_unmounts(Executes executes, GivesFiles gives) {
  constexpr std::array<unsigned, 3> kKept{CAP_SYS_ADMIN, CAP_DAC_OVERRIDE, CAP_CHOWN};
  const std::size_t count = gives == GivesFiles::kYes ? 3 : 2;
  return keep_only(std::span(kKept).first(count), {}, executes);
}

Result<void> keep_only_what_traces() {
  constexpr std::array<unsigned, 3> kKept{CAP_DAC_OVERRIDE, CAP_SYSLOG, CAP_SYS_PTRACE};
  return keep_only(kKept, kKept, Executes::kNothing);
}

}  // namespace tallyfs
