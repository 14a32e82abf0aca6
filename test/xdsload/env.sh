#!/bin/bash
# env.sh up|down|status: etcd + kube-apiserver of their own, on 127.0.0.1, for xdsload.
set -eu
BIN=${BIN:?BIN: the folder of etcd and kube-apiserver}
RUN=${RUN:?RUN: a folder for the data}
ETCD_PORT=${ETCD_PORT:-33790}
ETCD_PEER_PORT=${ETCD_PEER_PORT:-33800}
API_PORT=${API_PORT:-36443}
CRDS=${CRDS-} # Istio's CRDs (istio.io/api: kubernetes/customresourcedefinitions.gen.yaml); empty: none

die() { echo "env.sh: $*" >&2; exit 1; }
alive() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null; }
stop() { # ends only the process whose pid is in the file
	if alive "$1"; then
		p=$(cat "$1"); kill "$p"
		for _ in $(seq 100); do kill -0 "$p" 2>/dev/null || break; sleep .1; done
		kill -0 "$p" 2>/dev/null && kill -9 "$p"
	fi
	rm -f "$1"
}

up() {
	mkdir -p "$RUN"; cd "$RUN"
	alive etcd.pid && die "is up already (RUN=$RUN)"
	for p in "$ETCD_PORT" "$ETCD_PEER_PORT" "$API_PORT"; do
		if (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null; then die "port $p is taken"; fi
	done
	rm -rf etcd.d certs
	if [ ! -s sa.key ]; then
		openssl genrsa -out sa.key 2048 2>/dev/null
		openssl rsa -in sa.key -pubout -out sa.pub 2>/dev/null
	fi
	token=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
	(umask 077; echo "$token,admin,1,\"system:masters\"" > tokens.csv
	cat > kc.yaml <<K
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:$API_PORT", insecure-skip-tls-verify: true}}]
users: [{name: a, user: {token: "$token"}}]
contexts: [{name: x, context: {cluster: c, user: a}}]
current-context: x
K
)
	"$BIN/etcd" --data-dir etcd.d --listen-client-urls "http://127.0.0.1:$ETCD_PORT" --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" \
		--listen-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" --unsafe-no-fsync --quota-backend-bytes 6442450944 >etcd.log 2>&1 </dev/null &
	echo $! >etcd.pid
	"$BIN/kube-apiserver" --etcd-servers="http://127.0.0.1:$ETCD_PORT" --secure-port="$API_PORT" --bind-address=127.0.0.1 --cert-dir=certs \
		--service-account-issuer=https://kubernetes.default.svc --service-account-key-file=sa.pub --service-account-signing-key-file=sa.key \
		--token-auth-file=tokens.csv --authorization-mode=RBAC --service-cluster-ip-range=10.96.0.0/16 \
		--disable-admission-plugins=ServiceAccount --profiling=false >api.log 2>&1 </dev/null &
	echo $! >api.pid
	for i in $(seq 300); do
		[ "$(curl -sk "https://127.0.0.1:$API_PORT/readyz" 2>/dev/null)" = ok ] && break
		alive api.pid || die "kube-apiserver ended: $(tail -1 api.log)"
		[ "$i" = 300 ] && die "not ready after 60 s: $(tail -1 api.log)"
		sleep .2
	done
	if [ -n "$CRDS" ]; then
		kubectl --kubeconfig kc.yaml apply --server-side -f "$CRDS" >/dev/null
		kubectl --kubeconfig kc.yaml wait --for=condition=Established crd --all --timeout=60s >/dev/null
		kubectl --kubeconfig kc.yaml create namespace istio-system >/dev/null
		kubectl --kubeconfig kc.yaml apply -f - >/dev/null <<'K'
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system}
data:
  mesh: |-
    defaultConfig: {discoveryAddress: "istiod.istio-system.svc:15012"}
  meshNetworks: "networks: {}"
K
	fi
	echo "up: KUBECONFIG=$RUN/kc.yaml etcd pid $(cat etcd.pid) apiserver pid $(cat api.pid)"
}

case "${1:-}" in
up) up ;;
down) stop "$RUN/api.pid"; stop "$RUN/etcd.pid"; rm -rf "$RUN/etcd.d"; echo down ;;
status) for n in etcd api; do alive "$RUN/$n.pid" && echo "$n up, pid $(cat "$RUN/$n.pid")" || echo "$n down"; done ;;
*) echo "usage: env.sh up|down|status   (variables: BIN RUN ETCD_PORT ETCD_PEER_PORT API_PORT CRDS)" >&2; exit 2 ;;
esac
