package compare

import (
	"strconv"
	"strings"

	"github.com/edsight/edsight/core/model"
)

// Target is what an outbound cluster is about.
type Target struct {
	Host   model.Hostname
	Port   uint32
	Subset string
	// Passthrough tells that a gateway passes mTLS through to it.
	Passthrough bool
}

// The beginnings of the names of outbound clusters, and what separates their
// parts.
const (
	direct, directSep           = "outbound", "|"
	passthrough, passthroughSep = "outbound_", "_."
)

func outbound(cluster string) bool {
	return strings.HasPrefix(cluster, direct+directSep) || strings.HasPrefix(cluster, direct+passthroughSep)
}

// ParseCluster reads the name of an outbound cluster; false if it is another one.
func ParseCluster(name string) (Target, bool) {
	sep := directSep
	if strings.HasPrefix(name, direct+passthroughSep) {
		sep = passthroughSep
	}
	part := strings.SplitN(name, sep, 4)
	if len(part) != 4 || part[0] != direct {
		return Target{}, false
	}
	port, err := strconv.ParseUint(part[1], 10, 16)
	if err != nil {
		return Target{}, false
	}
	return Target{Port: uint32(port), Subset: part[2], Host: model.Hostname(part[3]), Passthrough: sep == passthroughSep}, true
}
