// Arguments of a marker (USDT), as its author's compiler has written them, and as the kernel
// fetches them:
//
//   8@%rdi            %di:u64             -4@%edx        %dx:s32
//   1@%ah             %ax:b8@8/16         -4@$-5         \-5:s32
//   -4@-80(%rbp)      -80(%bp):s32        8@(%rax)       +0(%ax):u64
//   8@[sp, 76]        +76(%sp):u64        4@w0           %x0:u32
//   8@count+16(%rip)  @+OFFSET:u64
//
// What has two registers, floating point, or anything else is not fetched.
// Values and pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/tracing/probe/elf_file.h"
#include "core/tracing/probe/found_places.h"

namespace tallyfs::tracing {

// Where `name` of the program plus a displacement is, as the kernel counts it. Nothing: nowhere.
using FindData = std::function<std::optional<std::uint64_t>(std::string_view name, std::int64_t)>;

// The texts of the single arguments, FoundPlaces::kArgumentsMax at most. A blank inside one, as in
// `[sp, 76]`, does not end it.
std::vector<std::string_view> split_arguments(std::string_view texts);
// An empty fetch: it cannot be fetched.
Fetch fetch_of(std::string_view argument, ElfMachine machine, const FindData& find_data);

}  // namespace tallyfs::tracing
