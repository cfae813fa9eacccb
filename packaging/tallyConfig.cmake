# find_package(tally) gives tally::tally (shared) and tally::static.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/tallyTargets.cmake")
