// Reads tests/golden/stats3: what FreeBSD's code answered to the calls in each ops.txt. Lines of
// it:
//   tpl_alloc name=N -> id (hash of empty template H)
//   # vss NAME=SPEC NAME=SPEC, or SPEC,SPEC without names, which the next tpl_add takes by their
//   kinds tpl_add voi=I name=N dtype=D nvss=C flags=F : SUM_MAX_HIST or NAME -> R  (hash now H,
//   cursz C) abs|rel TYPE voi=I val=V -> R snapshot FLAG|FLAG at t=Ss -> R
// SPEC is a STATS_VSS_ macro without that prefix.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/unit/stats3_blob/fixture.h"

namespace tallyfs::stats3::blob {

inline const std::string kGolden = TALLY_SOURCE_DIR "/tests/golden/stats3/";

std::string read_text(const std::string& path);
// The number behind `key` in a line.
long long number_after(const std::string& line, const std::string& key);
std::string word_after(const std::string& line, const std::string& key);

// Specifications by the names that ops.txt gives them.
class NamedSpecs {
 public:
  void define(const std::string& line);                        // "# vss ..."
  void append(Specs& specs, const std::string& wanted) const;  // "SUM_MAX_HIST", or a name

 private:
  std::map<std::string, std::string> named_;
  std::vector<std::string> unnamed_;
};

vsd_dtype dtype_of(const std::string& name);
int update(statsblob* sb, const std::string& how, const std::string& type, int voi,
           const std::string& value);

}  // namespace tallyfs::stats3::blob
