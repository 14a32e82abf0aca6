#!/usr/bin/env bash
# load.sh [small|medium|large]: fills an API server of its own, starts Edsight on it
# and measures it with xdsload, beside the floor: what a server costs that sends
# bytes which it has ready. Everything stays on 127.0.0.1; the data is deleted.
#
# Variables: SERVER, a shell command that becomes another server, with KUBECONFIG
# set and plain-text ADS at $XDS; SCENARIOS; MODE=sotw; JSON, a file for the report.
set -euo pipefail
cd "$(dirname "$0")/../.."
case ${1:-small} in
small) size=(100 10 5 50) ;;
medium) size=(1000 10 10 200) ;;
large) size=(2000 20 25 300) ;;
*) echo "load.sh: small, medium or large" >&2; exit 2 ;;
esac
read -r services namespaces endpoints clients <<<"${size[*]}"
RUN=$(mktemp -d); export RUN
export BIN CRDS XDS=127.0.0.1:${XDS_PORT:-35010} HTTP=127.0.0.1:${HTTP_PORT:-38080}
BIN=$(test/kube/build.sh)
CRDS=$(go list -m -f '{{.Dir}}' istio.io/api)/kubernetes/customresourcedefinitions.gen.yaml
go build -o "$RUN/edsight" ./cmd/edsight
go build -o "$RUN/xdsload" ./test/xdsload
pid=
finish() {
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi
  test/xdsload/env.sh down
  rm -rf "$RUN"
}
trap finish EXIT
test/xdsload/env.sh up
export KUBECONFIG=$RUN/kc.yaml
"$RUN/xdsload" setup --services "$services" --namespaces "$namespaces" --endpoints "$endpoints" 2>&1 | tail -1
others=apiserver=$(cat "$RUN/api.pid"),etcd=$(cat "$RUN/etcd.pid")
bash -c "exec ${SERVER:-$RUN/edsight serve --kubeconfig $KUBECONFIG --xds $XDS --http $HTTP --open-debug --log-level warn}" >"$RUN/server.log" 2>&1 &
pid=$!
# Connecting is measured on a server that is ready; the start is by "xdsload coldstart".
[ -n "${SERVER-}" ] || until curl -sf "http://$HTTP/readyz" >/dev/null; do
  kill -0 "$pid" || { cat "$RUN/server.log" >&2; exit 1; }
  sleep .2
done
"$RUN/xdsload" run --xds "$XDS" --clients "$clients" --mode "${MODE:-delta}" --pid "$pid" --others "$others" \
  --scenarios "${SCENARIOS:-trickle,churn,rollout,fullpush,reconnect}" --debug-url "http://$HTTP" ${JSON:+--json "$JSON"}
for rate in 2 200; do
  "$RUN/xdsload" floor --clients "$clients" --size 2000 --updates $((rate * 10)) --rate "$rate"
done
