package registry

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/edsight/edsight/core/model"
)

const unspecifiedIP = "0.0.0.0"

// kubeService makes the registry's service of a Kubernetes Service as one
// cluster has it.
func (w *World) kubeService(key model.ObjectKey, s *corev1.Service) *model.Service {
	out := &model.Service{
		Key: w.hostOf(key), Name: s.Name, Provider: model.ProviderKubernetes, Object: key,
		ResourceVersion: s.ResourceVersion, Created: s.CreationTimestamp.Time,
		Labels: s.Labels, Selector: s.Spec.Selector, Resolution: model.ClientSideLB, Type: string(s.Spec.Type),
		ExportTo: exportTo(s.Annotations[model.AnnotationExportTo]), ServiceAccounts: w.annotatedAccounts(s),
		DefaultAddress:          unspecifiedIP,
		NodeLocal:               s.Spec.InternalTrafficPolicy != nil && *s.Spec.InternalTrafficPolicy == corev1.ServiceInternalTrafficPolicyLocal,
		TrafficDistribution:     trafficDistribution(s.Annotations[model.AnnotationTrafficDist], s.Spec.TrafficDistribution),
		PublishNotReady:         s.Spec.PublishNotReadyAddresses,
		PersistentSession:       s.Labels[model.LabelPersistentSession] != "",
		PersistentSessionHeader: s.Labels[model.LabelPersistentSessionHeader] != "",
	}
	for _, p := range s.Spec.Ports {
		out.Ports = append(out.Ports, kubePort(p))
	}
	vips := []string{unspecifiedIP}
	switch {
	case s.Spec.Type == corev1.ServiceTypeExternalName && s.Spec.ExternalName != "":
		out.Resolution, out.MeshExternal, out.ExternalName = model.Alias, true, s.Spec.ExternalName
	case s.Spec.ClusterIP == corev1.ClusterIPNone:
		out.Resolution = model.Passthrough
	case s.Spec.ClusterIP != "":
		out.DefaultAddress = s.Spec.ClusterIP
		vips = clusterIPs(s)
	}
	out.VIPs = map[model.ClusterID][]string{key.Cluster: vips}
	w.externalAddresses(key.Cluster, s, out)
	return out
}

func kubePort(p corev1.ServicePort) model.Port {
	out := model.Port{Name: p.Name, Number: uint32(p.Port), Protocol: portProtocol(p)} //nolint:gosec // the API server checks 1 to 65535
	if p.TargetPort.Type == intstr.String {
		out.TargetPortName = p.TargetPort.StrVal
	} else {
		out.TargetPort = uint32(p.TargetPort.IntVal) //nolint:gosec // the API server checks 0 to 65535
	}
	return out
}

func clusterIPs(s *corev1.Service) []string {
	if len(s.Spec.ClusterIPs) > 0 {
		return s.Spec.ClusterIPs
	}
	return []string{s.Spec.ClusterIP}
}

// exportTo reads the annotation; nil if it is absent.
func exportTo(annotation string) []string {
	if annotation == "" {
		return nil
	}
	var out []string
	for part := range strings.SplitSeq(annotation, ",") {
		out = append(out, strings.TrimSpace(part))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// annotatedAccounts are identities given by annotations, as the registry shows
// them: full identities first, then those of accounts in the namespace.
func (w *World) annotatedAccounts(s *corev1.Service) []string {
	var out []string
	if a := s.Annotations[model.AnnotationCanonicalAccounts]; a != "" {
		out = append(out, strings.Split(a, ",")...)
	}
	if a := s.Annotations[model.AnnotationKubeAccounts]; a != "" {
		for account := range strings.SplitSeq(a, ",") {
			out = append(out, w.spiffe(s.Namespace, account))
		}
	}
	return out
}

// trafficDistribution of the annotation if its value is known, else of the field.
func trafficDistribution(annotation string, field *string) model.TrafficDistribution {
	switch strings.ToLower(annotation) {
	case strings.ToLower(corev1.ServiceTrafficDistributionPreferClose), "prefersamezone":
		return model.DistributionPreferSameZone
	case "prefersamenode":
		return model.DistributionPreferSameNode
	}
	if field == nil {
		return model.DistributionAny
	}
	switch *field {
	case corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone:
		return model.DistributionPreferSameZone
	case corev1.ServiceTrafficDistributionPreferSameNode:
		return model.DistributionPreferSameNode
	}
	return model.DistributionAny
}

// externalAddresses are those of the load balancer and externalIPs, else those of
// the nodes that the annotation of a Service of type NodePort selects.
func (w *World) externalAddresses(cluster model.ClusterID, s *corev1.Service, out *model.Service) {
	addresses := slices.Clone(s.Spec.ExternalIPs)
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer {
		for _, in := range s.Status.LoadBalancer.Ingress {
			if a := first(in.IP, in.Hostname); a != "" {
				addresses = append(addresses, a)
			}
		}
	}
	if reachedByNodes(s) {
		ports := map[uint32]uint32{}
		for _, p := range s.Spec.Ports {
			ports[uint32(p.Port)] = uint32(p.NodePort) //nolint:gosec // the API server checks both
		}
		out.ExternalPorts = map[model.ClusterID]map[uint32]uint32{cluster: ports}
		if len(addresses) == 0 {
			addresses = w.nodeAddresses(cluster, s)
		}
	}
	if len(addresses) > 0 {
		slices.Sort(addresses)
		out.ExternalAddresses = map[model.ClusterID][]string{cluster: addresses}
	}
}

// mergeClusters merges the definitions of one Service in several clusters: the
// first counts, the others add their VIPs.
func mergeClusters(defs []*model.Service) *model.Service {
	if len(defs) == 1 {
		return defs[0]
	}
	out := *defs[0]
	out.VIPs = map[model.ClusterID][]string{}
	out.PerCluster = map[model.ClusterID]*model.Service{}
	for _, d := range defs {
		out.PerCluster[d.Object.Cluster] = d
		maps.Copy(out.VIPs, d.VIPs)
	}
	return &out
}

// clusterOrder puts the config cluster first.
func (w *World) clusterOrder(a, b model.ClusterID) int {
	if (a == w.config) != (b == w.config) {
		if a == w.config {
			return -1
		}
		return 1
	}
	return cmp.Compare(a, b)
}
