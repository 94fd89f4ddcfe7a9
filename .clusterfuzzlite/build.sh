#!/usr/bin/env bash
# Builds the fuzz targets for ClusterFuzzLite and OSS-Fuzz into $OUT, each with its seeds, dictionary and options.
#
# SRC holds the repository as `myriscope`. SANITIZER, RUSTFLAGS and the like are what the image's `compile` sets;
# SANITIZER=none builds without any, as `cargo xtask fuzz` does. FUZZ_TOOLCHAIN names another toolchain; an empty one
# leaves it as it is.
set -euo pipefail
cd "$SRC/myriscope"

# The image's nightly is older than pcap-file 3 and rust-version ask for. Pinned, so that a new one breaks nothing.
toolchain=${FUZZ_TOOLCHAIN-$(cat fuzz/toolchain)}
if [ -n "$toolchain" ]; then
    export RUSTUP_TOOLCHAIN=$toolchain
    rustc --version || rustup toolchain install "$toolchain" --profile minimal --component rust-src
fi

options=()
[ "${SANITIZER:-address}" != none ] || options=(-s none --no-trace-compares)
# As `cargo xtask fuzz` builds them.
export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/fuzz/target}"
# In a build for coverage the image's cargo makes `cargo build` of this.
cargo fuzz build --fuzz-dir fuzz "${options[@]}"

binaries="$CARGO_TARGET_DIR/$(rustc -vV | sed -n 's/^host: //p')/release"
for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    cp "$binaries/$target" "$OUT/"
    zip --quiet --junk-paths --recurse-paths "$OUT/${target}_seed_corpus.zip" "corpus/$target"
done
cp fuzz/dict/*.dict fuzz/options/*.options "$OUT/"
