# The Debian packages: cmake --build --preset release --target package; they come to
# build/release/packages.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tallyfs)
set(CPACK_PACKAGE_VENDOR tallyfs)
set(TALLYFS_MAINTAINER "the tallyfs authors <tallyfs@localhost>" CACHE STRING
  "Who answers for the packages, NAME <ADDRESS>: packaging/debian/README.md")
set(CPACK_PACKAGE_CONTACT ${TALLYFS_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL daemon library dev)
if(TARGET tally_python_module)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

configure_file(${CMAKE_CURRENT_SOURCE_DIR}/debian/changelog ${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian @ONLY)

# describe(COMPONENT PACKAGE SECTION SYNOPSIS TEXT): TEXT is one paragraph.
function(describe component package section synopsis text)
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_DESCRIPTION "${synopsis}\n${text}" PARENT_SCOPE)

  # What every package has: its licence and its history.
  set(documents ${CMAKE_CURRENT_BINARY_DIR}/${package})
  file(MAKE_DIRECTORY ${documents})
  compress(${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian ${documents}/changelog.Debian.gz)
  compress(${PROJECT_SOURCE_DIR}/CHANGELOG.md ${documents}/changelog.gz)
  install(FILES ${documents}/changelog.Debian.gz ${documents}/changelog.gz
    ${CMAKE_CURRENT_SOURCE_DIR}/debian/copyright
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/debian/lintian-overrides
    DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

describe(daemon tallyfs utils "statistics in user space, shown as one likes"
"tallyfs mounts a tree of statistics. Processes send it samples over a Unix
datagram socket; cat shows counters, ranges, lists, histograms,
percentiles, the last value, history or raw samples, and echo into a file
changes which, at run time. Feeders for block requests, late timers, TCP
connections, logs, StatsD and the events of the kernel, tallyctl to look
at it all in a terminal, tally-web for browsers and Prometheus, tally-send
for scripts, and tally-clock, which says what the clock of libtally is
worth on a machine, come along.")
describe(library libtally0 libs "library that feeds statistics to tallyfs"
"Programs that link libtally register statistics with tallyfs and add samples
to them, for less than a nanosecond while a statistic is off. They need no
daemon: one that is absent or restarted costs them nothing. Its clock, for
cycles, nanoseconds and times of day, is of use without a daemon too.")
describe(dev libtally-dev libdevel "library that feeds statistics to tallyfs (development)"
"Headers for C and C++, the static library, and what pkg-config and CMake want
to know.")
describe(python python3-tally python "package of Python that feeds statistics to tallyfs"
"The calls of libtally for Python programs, as classes and functions, with type
stubs: an extension module, whose calls cost nanoseconds. Batches are read in
place from any buffer of 64-bit numbers, such as an array of numpy.")

set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Python's module needs the library of this build.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
# What else a library tells dpkg.
file(CONFIGURE OUTPUT shlibs CONTENT "libtally 0 libtally0 (>= ${PROJECT_VERSION})\n" NEWLINE_STYLE UNIX)
file(CONFIGURE OUTPUT triggers CONTENT "activate-noawait ldconfig\n" NEWLINE_STYLE UNIX)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_BINARY_DIR}/shlibs;${CMAKE_CURRENT_BINARY_DIR}/triggers")
file(CONFIGURE OUTPUT conffiles CONTENT "/etc/default/tallyfs\n/etc/tallyfs/rules\n"
  NEWLINE_STYLE UNIX)
set(CPACK_DEBIAN_DAEMON_PACKAGE_DEPENDS "fuse3, adduser")
set(CPACK_DEBIAN_DAEMON_PACKAGE_CONTROL_EXTRA
  "${CMAKE_CURRENT_SOURCE_DIR}/debian/postinst;${CMAKE_CURRENT_SOURCE_DIR}/debian/prerm;${CMAKE_CURRENT_SOURCE_DIR}/debian/postrm;${CMAKE_CURRENT_BINARY_DIR}/conffiles")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libtally0 (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "tallyfs, python3-tally")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
  "libtally0 (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), python3 (>= 3.11)")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "tallyfs")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  "${CMAKE_CURRENT_SOURCE_DIR}/debian/python/postinst;${CMAKE_CURRENT_SOURCE_DIR}/debian/python/prerm")
include(CPack)
