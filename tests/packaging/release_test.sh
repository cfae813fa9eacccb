#!/usr/bin/env bash
# packaging/release on a clone: it tells all faults of a tree at once, and builds nothing then.
# TALLY_RELEASE=yes prepares a trial as well, from two builds.
. "$(dirname "$0")/../feeders/lib.sh"
PROJECT=$(cd "$(dirname "$0")/../.." && pwd)
git -C "$PROJECT" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip_all "this is no clone of git"

TREE=$WORK/tree
git clone -q "$PROJECT" "$TREE" 2>"$WORK/said" || skip_all "git clone: $(cat "$WORK/said")"
# What runs is what is tested, committed or not.
cp "$PROJECT/packaging/release" "$TREE/packaging/release"
commit() {
  git -C "$TREE" add -A
  git -C "$TREE" -c user.name=test -c user.email=test@localhost commit -q --allow-empty -m "$1"
}
commit 'the tree that is tested'
VERSION=$(sed -nE 's/^project\(tallyfs VERSION ([^ ]*).*/\1/p' "$TREE/CMakeLists.txt")

# release WANTED ARGUMENT...: it ends with that status; what it says is in $SAID.
release() {
  local wanted=$1 status=0
  shift
  SAID=$("$TREE/packaging/release" --no-tests --output "$WORK/out" "$@" 2>&1) || status=$?
  check_eq "$wanted" $status "release $* ends with $wanted"
  [ "$status" -eq "$wanted" ] || sed 's/^/# /' <<<"$SAID"
}
says() { check_eq 1 "$(grep -cF -- "$1" <<<"$SAID")" "and says: $1"; }
builds_nothing() { check_eq '' "$(ls "$WORK/out" 2>/dev/null)" "and builds nothing"; }

release 2
says 'is no version as 0.2.0'
release 2 1.0
release 2 "$VERSION" "$VERSION"
says 'more than one version'

release 1 99.1.2
says "CMakeLists.txt says version $VERSION"
says "packaging/debian/changelog begins with $VERSION: it needs an entry of 99.1.2-1"
says "wanted '## 99.1.2, YYYY-MM-DD'"
says 'CHANGELOG.md has no entry of 99.1.2'
says "tests/client/abi/libtally-99.1.xml, the dump of libtally's ABI"
says 'not ready, faults: 5'
builds_nothing

sed -i "0,/^## .*/s//## $VERSION, not yet/" "$TREE/CHANGELOG.md"
release 1 "$VERSION"
says 'the tree has changes'
says "wanted '## $VERSION, YYYY-MM-DD'"
builds_nothing

sed -i -E 's/^(inline constexpr std::uint16_t kVersion) = .*/\1 = 77;/' "$TREE/core/wire/binary.h"
sed -i "0,/^## .*/s//## $VERSION, not released yet/" "$TREE/CHANGELOG.md"
commit 'another version of the messages'
git -C "$TREE" tag "v$VERSION"
release 1 --trial "$VERSION"
says "the tag v$VERSION exists"
says 'core/wire/FORMAT.md and core/wire/binary.h have different versions'
git -C "$TREE" tag -d "v$VERSION" >/dev/null

# A format that changes after a release is to be told.
git -C "$TREE" checkout -q HEAD~ -- core/wire/binary.h
commit 'the version as it was'
git -C "$TREE" tag v0.0.1
sed -i 's/format of the file: 1/format of the file: 2/' "$TREE/core/state/FORMAT.md"
sed -i '/[Ff]ormat/d' "$TREE/CHANGELOG.md"
commit 'a format changes'
release 1 --trial "$VERSION"
says 'numbers of formats have changed since v0.0.1'
says 'not ready, faults: 1'
builds_nothing

if [ "${TALLY_RELEASE:-}" ]; then
  sed -i "0,/^\* /s//* The format of state files has changed.\n&/" "$TREE/CHANGELOG.md"
  commit 'and is told'
  release 0 --trial "$VERSION"
  says 'A trial: not to be published'
  check "the sums are those of the files" \
    bash -c 'cd "$1" && sha256sum --quiet -c SHA256SUMS' bash "$WORK/out"
  check_eq "CHANGES.md SHA256SUMS libtally-dev libtally0 python3-tally tallyfs tallyfs" \
    "$(cd "$WORK/out" && ls | sed 's/[_-][0-9].*//' | tr '\n' ' ' | sed 's/ $//')" \
    "source and packages are there"
else
  echo "ok $((COUNT += 1)) - a trial is built twice # SKIP TALLY_RELEASE=yes builds it"
fi
echo "1..$COUNT"
exit "$FAILED"
