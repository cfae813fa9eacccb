// Formats for the fuzz targets of core/tracing: every kind of field in one event, and a second one
// to match with.
#pragma once

namespace tallyfs::fuzz {

inline constexpr char kAllKinds[] =
    "name: all\nID: 7\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:u64 a;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:s32 b;\toffset:16;\tsize:4;\tsigned:1;\n"
    "\tfield:u8 c;\toffset:20;\tsize:1;\tsigned:0;\n"
    "\tfield:char t[16];\toffset:24;\tsize:16;\tsigned:0;\n"
    "\tfield:__data_loc char[] d;\toffset:40;\tsize:4;\tsigned:0;\n"
    "\tfield:__rel_loc char[] r;\toffset:44;\tsize:4;\tsigned:0;\n"
    "\tfield:__data_loc unsigned long[] s;\toffset:48;\tsize:4;\tsigned:0;\n"
    "\tfield:u32 o[2];\toffset:52;\tsize:8;\tsigned:0;\n"
    "\tfield:char z[];\toffset:60;\tsize:0;\tsigned:0;\n";

inline constexpr char kSecond[] =
    "name: two\nID: 8\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:u64 a;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:s32 b;\toffset:16;\tsize:4;\tsigned:1;\n";

inline constexpr unsigned kAllKindsBytes = 60;

}  // namespace tallyfs::fuzz
