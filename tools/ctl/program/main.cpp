#include "tools/ctl/commands.h"

int main(int argc, char** argv) { return tallyfs::run_tallyctl(argc, argv); }
