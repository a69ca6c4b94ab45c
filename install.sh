#!/bin/sh
# Installs sosgo: downloads the release's archive for this machine, verifies it against the release's SHA256SUMS, and copies the binary.
#   curl -fsSL https://raw.githubusercontent.com/sosgo/sosgo/main/install.sh | sh
#
# SOSGO_VERSION     a version such as v1.2.0; default: the latest
# SOSGO_BIN         the folder for the binary; default: ~/.local/bin
# SOSGO_RELEASES    where the releases are; default: https://github.com/sosgo/sosgo/releases
# SOSGO_PUBLIC_KEY  a minisign key: the signature of SHA256SUMS must be its, and minisign must be installed
set -eu

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

fetch() { # ADDRESS FILE
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 3 -o "$2" "$1" || fail "$1 can't be downloaded"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1" || fail "$1 can't be downloaded"
  else
    fail "curl or wget is needed"
  fi
}

sum() { # FILE
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d' ' -f1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d' ' -f1
  else
    fail "sha256sum or shasum is needed"
  fi
}

main() {
  case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  FreeBSD) os=freebsd ;;
  *) fail "there is no archive for $(uname -s); on Windows, use scoop or winget, or unpack the .zip" ;;
  esac
  case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there is no archive for $(uname -m)" ;;
  esac
  releases=${SOSGO_RELEASES:-https://github.com/sosgo/sosgo/releases}
  if [ -n "${SOSGO_VERSION:-}" ]; then
    from=$releases/download/$SOSGO_VERSION
  else
    from=$releases/latest/download
  fi
  bin=${SOSGO_BIN:-$HOME/.local/bin}

  tmp=$(mktemp -d)
  trap 'rm -rf "$tmp"' EXIT
  fetch "$from/SHA256SUMS" "$tmp/SHA256SUMS"
  if [ -n "${SOSGO_PUBLIC_KEY:-}" ]; then
    command -v minisign >/dev/null 2>&1 || fail "minisign is needed to verify the signature"
    fetch "$from/SHA256SUMS.minisig" "$tmp/SHA256SUMS.minisig"
    minisign -Vqm "$tmp/SHA256SUMS" -P "$SOSGO_PUBLIC_KEY" || fail "the signature of SHA256SUMS is not that key's"
  fi
  line=$(grep -E "^[0-9a-f]{64} [ *]sosgo-[A-Za-z0-9._+-]*-$os-$arch\.tar\.gz\$" "$tmp/SHA256SUMS") || fail "the release has no archive for $os-$arch"
  [ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "the release has several archives for $os-$arch"
  want=${line%% *}
  name=sosgo-${line#*[ *]sosgo-}
  fetch "$from/$name" "$tmp/$name"
  [ "$(sum "$tmp/$name")" = "$want" ] || fail "$name is not the file that SHA256SUMS names; nothing is installed"
  tar -xzf "$tmp/$name" -C "$tmp"
  mkdir -p "$bin"
  cp "$tmp/${name%.tar.gz}/sosgo" "$bin/.sosgo.new"
  chmod 755 "$bin/.sosgo.new"
  mv "$bin/.sosgo.new" "$bin/sosgo"
  echo "$bin/sosgo: $("$bin/sosgo" --version)"
  case :$PATH: in
  *:$bin:*) ;;
  *) echo "add $bin to PATH" ;;
  esac
}

main # at the end: a part of this file runs nothing
