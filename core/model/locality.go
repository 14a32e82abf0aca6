package model

import "strings"

// Locality is where a workload runs. The zero value means unknown.
type Locality struct {
	Region, Zone, Subzone string
}

// ParseLocality reads "region/zone/subzone", of which later parts may be absent;
// what follows is passed over.
func ParseLocality(label string) Locality {
	parts := strings.SplitN(label, "/", 4)
	l := Locality{Region: parts[0]}
	if len(parts) > 1 {
		l.Zone = parts[1]
	}
	if len(parts) > 2 {
		l.Subzone = parts[2]
	}
	return l
}

// String gives "region/zone/subzone" without the empty parts at the end.
func (l Locality) String() string {
	return strings.TrimRight(l.Region+"/"+l.Zone+"/"+l.Subzone, "/")
}
