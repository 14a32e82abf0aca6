package views

import "github.com/edsight/edsight/core/model"

// ServiceRef names a service in a row.
type ServiceRef struct {
	Host      model.Hostname `json:"host"`
	Namespace string         `json:"namespace"`
}

// Ref names the service of a key.
func Ref(key model.ServiceKey) ServiceRef {
	return ServiceRef{Host: key.Hostname, Namespace: key.Namespace}
}

func (r ServiceRef) key() model.ServiceKey {
	return model.ServiceKey{Hostname: r.Host, Namespace: r.Namespace}
}

// ReasonCount says how many endpoints have one reason.
type ReasonCount struct {
	Reason model.Reason `json:"reason"`
	Text   string       `json:"text"`
	Remedy string       `json:"remedy,omitempty"`
	Count  int          `json:"count"`
}

// Reasons makes the counts of an array indexed by reason a list.
func Reasons(counts map[model.Reason]int) []ReasonCount {
	var list []ReasonCount
	for _, r := range model.Reasons() {
		if n := counts[r]; n > 0 {
			list = append(list, ReasonCount{Reason: r, Text: r.Text(), Remedy: r.Remedy(), Count: n})
		}
	}
	return list
}
