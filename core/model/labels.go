package model

// Labels are the labels of a workload or service. They are read-only.
type Labels map[string]string

// SubsetOf tells whether every label of l is in o with the same value. Nil and
// empty labels are subsets of everything.
func (l Labels) SubsetOf(o Labels) bool {
	for k, v := range l {
		if ov, ok := o[k]; !ok || ov != v {
			return false
		}
	}
	return true
}

// Labels and annotations with a meaning for endpoints.
const (
	LabelServiceName             = "kubernetes.io/service-name"
	LabelMultiClusterService     = "multicluster.kubernetes.io/service-name"
	LabelTLSMode                 = "security.istio.io/tlsMode"
	LabelNetwork                 = "topology.istio.io/network"
	LabelCluster                 = "topology.istio.io/cluster"
	LabelSubzone                 = "topology.istio.io/subzone"
	LabelRegion                  = "topology.kubernetes.io/region"
	LabelZone                    = "topology.kubernetes.io/zone"
	LabelHostname                = "kubernetes.io/hostname"
	LabelIstioLocality           = "istio-locality"
	LabelDraining                = "istio.io/draining"
	LabelPersistentSession       = "istio.io/persistent-session"
	LabelPersistentSessionHeader = "istio.io/persistent-session-header"
	LabelCanonicalName           = "service.istio.io/canonical-name"
	LabelCanonicalRevision       = "service.istio.io/canonical-revision"
	LabelWorkloadName            = "service.istio.io/workload-name"
	LabelTunnel                  = "networking.istio.io/tunnel"
	AnnotationExportTo           = "networking.istio.io/exportTo"
	AnnotationTrafficDist        = "networking.istio.io/traffic-distribution"
	AnnotationKubeAccounts       = "alpha.istio.io/kubernetes-serviceaccounts"
	AnnotationCanonicalAccounts  = "alpha.istio.io/canonical-serviceaccounts"
	AnnotationNodeSelector       = "traffic.istio.io/nodeSelector"
	AnnotationHealthChecks       = "proxy.istio.io/health-checks-enabled"
	AnnotationRedirection        = "ambient.istio.io/redirection"
	AnnotationGroup              = "istio.io/autoRegistrationGroup"
)
