// The texts by which the kernel describes its ring buffer's pages and its own events of the system
// ftrace, as far as such pages and events exist here. Constants, in the kernel's words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tallyfs::tracing {

// events/header_page and events/header_event: see PageWriter.
inline constexpr std::string_view kRingPageFormat =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
inline constexpr std::string_view kRingEntryFormat =
    "# compressed entry header\n"
    "\ttype_len    :    5 bits\n"
    "\ttime_delta  :   27 bits\n"
    "\tarray       :   32 bits\n"
    "\n"
    "\tpadding     : type == 29\n"
    "\ttime_extend : type == 30\n"
    "\ttime_stamp : type == 31\n"
    "\tdata max type_len  == 28\n";

// The fields that every record begins with.
#define TALLYFS_COMMON_FIELDS                                                    \
  "format:\n"                                                                    \
  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
  "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
  "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

// A text that was written into trace_marker.
inline constexpr std::string_view kPrintFormat =
    "name: print\nID: 5\n" TALLYFS_COMMON_FIELDS
    "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n\n"
    "print fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n";

// Bytes that were written into trace_marker_raw. The kernel's id of it differs between versions:
// this one is of none of their events with a source.
inline constexpr std::string_view kRawDataFormat =
    "name: raw_data\nID: 16\n" TALLYFS_COMMON_FIELDS
    "\tfield:unsigned int id;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;\n\n"
    "print fmt: \"id:%04x %08x\", REC->id, (int)REC->buf[0]\n";

// The stack that a stacktrace trigger asked for: `size` addresses, innermost first.
inline constexpr std::uint16_t kKernelStackId = 4;
inline constexpr std::size_t kKernelStackSizeAt = 8;
inline constexpr std::size_t kKernelStackCallersAt = 16;
inline constexpr std::string_view kKernelStackFormat =
    "name: kernel_stack\nID: 4\n" TALLYFS_COMMON_FIELDS
    "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
    "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n\n"
    "print fmt: \"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n"
    "\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\", "
    "(void *)REC->caller[0], (void *)REC->caller[1], (void *)REC->caller[2], "
    "(void *)REC->caller[3], (void *)REC->caller[4], (void *)REC->caller[5], "
    "(void *)REC->caller[6], (void *)REC->caller[7]\n";

#undef TALLYFS_COMMON_FIELDS

}  // namespace tallyfs::tracing
