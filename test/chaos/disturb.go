package chaos

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// objects are the services and their endpoints as they are at the start.
func objects() string {
	var b strings.Builder
	for i := range services {
		b.WriteString(service(i, 80) + "---\n" + slice(i, fmt.Sprintf("10.0.%d.1", i)) + "---\n")
	}
	return b.String()
}

// disturbance is one random change.
func disturbance(r *rand.Rand, clients int) string {
	const remove = "$op: delete\n"
	i := r.IntN(services)
	switch r.IntN(20) {
	case 0:
		return remove + service(i, 80)
	case 1, 2:
		return service(i, 80+r.IntN(2))
	case 3:
		return remove + rule(i)
	case 4:
		return rule(i) + fmt.Sprintf(`spec:
  host: s%d
  trafficPolicy: {connectionPool: {tcp: {maxConnections: %d}}, outlierDetection: {consecutive5xxErrors: %d}}
  subsets: [{name: v%d, labels: {version: v1}}]
`, i, 1+r.IntN(9), 1+r.IntN(9), r.IntN(3))
	case 5:
		return sidecar() + fmt.Sprintf("spec: {workloadSelector: {labels: {team: t%d}}, egress: [{hosts: [\"./s%d.shop.svc.cluster.local\"]}]}\n", r.IntN(3), i)
	case 6:
		return remove + sidecar()
	case 7:
		return pod(r.IntN(clients), r.IntN(3))
	}
	var ips []string
	for range r.IntN(4) {
		ips = append(ips, fmt.Sprintf("10.0.%d.%d", r.IntN(4), r.IntN(4)))
	}
	return slice(i, ips...)
}

func service(i, port int) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Service
metadata: {name: s%d, namespace: shop}
spec: {clusterIP: 10.96.0.%d, ports: [{name: http, port: %d}]}
`, i, i+10, port)
}

func slice(service int, ips ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: s%[1]d-1, namespace: shop, labels: {kubernetes.io/service-name: s%[1]d}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [`, service)
	for _, ip := range ips {
		fmt.Fprintf(&b, "{addresses: [%s], conditions: {ready: true}}, ", ip)
	}
	return b.String() + "]\n"
}

// rule is the head of a DestinationRule.
func rule(service int) string {
	return fmt.Sprintf("apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: s%d, namespace: shop}\n", service)
}

// sidecar is the head of a Sidecar.
func sidecar() string {
	return "apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: some, namespace: shop}\n"
}

func pod(client, team int) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: client-%d, namespace: shop, labels: {team: t%d}}
spec: {containers: [{name: app, image: app}]}
status: {phase: Running, podIP: 10.8.0.%d}
`, client, team, client%250+1)
}
