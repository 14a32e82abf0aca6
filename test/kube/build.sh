#!/usr/bin/env bash
# Builds etcd, kube-apiserver and kube-controller-manager, in the versions of
# this folder's go.mod, and prints the folder that holds them. The folder is
# keyed by go.mod, go.sum and the Go version, so a changed pin builds anew; a
# binary gets its name only when its build has finished.
set -euo pipefail
cd "$(dirname "$0")"
key=$({ cat go.mod go.sum; go version; } | sha256sum | cut -c1-16)
out=${XDG_CACHE_HOME:-$HOME/.cache}/edsight/kube-$key
mkdir -p "$out"
for pkg in go.etcd.io/etcd/server/v3:etcd \
  k8s.io/kubernetes/cmd/kube-apiserver:kube-apiserver \
  k8s.io/kubernetes/cmd/kube-controller-manager:kube-controller-manager; do
  bin=$out/${pkg##*:}
  [ -x "$bin" ] && continue
  echo "building ${pkg%%:*}" >&2
  go build -trimpath -ldflags '-s -w' -o "$bin.$$" "${pkg%%:*}" >&2
  mv "$bin.$$" "$bin"
done
echo "$out"
