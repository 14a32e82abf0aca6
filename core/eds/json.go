package eds

import (
	"encoding/json"
	"strconv"
	"strings"
)

// AppendJSON adds the assignment in protobuf's JSON to b: what protojson gives of
// the message, at a small part of the cost. Members go into the outermost object
// before the others; "" for none.
func (a *Assignment) AppendJSON(b []byte, members string) []byte {
	b = append(b, '{')
	b = append(b, members...)
	if a.Cluster != "" {
		b = appendMember(b, "clusterName")
		b = appendString(b, a.Cluster)
	}
	if len(a.Localities) > 0 {
		b = append(appendMember(b, "endpoints"), '[')
		for i := range a.Localities {
			b = a.Localities[i].appendJSON(appendComma(b, i))
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func (l *LocalityEndpoints) appendJSON(b []byte) []byte {
	b = append(b, `{"locality":{`...)
	for _, part := range []struct{ name, value string }{{"region", l.Locality.Region}, {"zone", l.Locality.Zone}, {"subZone", l.Locality.Subzone}} {
		if part.value != "" {
			b = appendString(appendMember(b, part.name), part.value)
		}
	}
	b = append(b, '}')
	if len(l.Endpoints) > 0 {
		b = append(b, `,"lbEndpoints":[`...)
		for i := range l.Endpoints {
			b = l.Endpoints[i].appendJSON(appendComma(b, i))
		}
		b = append(b, ']')
	}
	b = appendCount(b, "loadBalancingWeight", l.Weight)
	return append(appendCount(b, "priority", l.Priority), '}')
}

func (e *LbEndpoint) appendJSON(b []byte) []byte {
	b = append(e.appendAddressJSON(append(b, `{"endpoint":{"address":{`...)), '}')
	if len(e.More) > 0 {
		b = e.appendOthersJSON(b)
	}
	b = append(b, '}')
	if h := healthMessage(e.Health); h != 0 {
		b = appendString(append(b, `,"healthStatus":`...), h.String())
	}
	if e.Workload != "" || e.Tunnel || e.TLSMode != "" {
		b = append(e.appendMetadataJSON(append(b, `,"metadata":{"filterMetadata":{`...)), "}}"...)
	}
	return append(appendCount(b, "loadBalancingWeight", e.Weight), '}')
}

func (e *LbEndpoint) appendOthersJSON(b []byte) []byte {
	n := 0
	for o := range e.others() {
		if n == 0 {
			b = append(b, `,"additionalAddresses":[`...)
		}
		b = append(o.appendAddressJSON(append(appendComma(b, n), `{"address":{`...)), "}}"...)
		n++
	}
	if n > 0 {
		b = append(b, ']')
	}
	return b
}

func (e *LbEndpoint) appendAddressJSON(b []byte) []byte {
	switch {
	case e.Tunnel:
		b = append(b, `"envoyInternalAddress":{"serverListenerName":"`+connectOriginate+`","endpointId":`...)
		b = appendString(b, e.hostPort())
	case e.Port == 0:
		b = append(b, `"pipe":{`...)
		if path := strings.TrimPrefix(e.Address, unixPrefix); path != "" {
			b = appendString(append(b, `"path":`...), path)
		}
	default:
		b = append(b, `"socketAddress":{`...)
		if e.Address != "" {
			b = append(appendString(append(b, `"address":`...), e.Address), ',')
		}
		b = strconv.AppendUint(append(b, `"portValue":`...), uint64(e.Port), 10)
	}
	return append(b, '}')
}

func (e *LbEndpoint) appendMetadataJSON(b []byte) []byte {
	switch {
	case e.Tunnel:
		b = appendFilterJSON(b, metadataOriginalDst, fieldLocal, e.hostPort())
		b = appendFilterJSON(b, metadataSocketMatch, fieldTunnel, tunnelHTTP)
	case e.TLSMode != "":
		b = appendFilterJSON(b, metadataSocketMatch, fieldTLSMode, e.TLSMode)
	}
	if e.Workload != "" {
		b = appendFilterJSON(b, metadataIstio, fieldWorkload, e.Workload)
	}
	return b
}

func appendFilterJSON(b []byte, filter, field, value string) []byte {
	b = append(appendMember(b, filter), '{')
	b = appendString(appendMember(b, field), value)
	return append(b, '}')
}

// appendMember begins a member of an object, after a comma unless it is the first.
func appendMember(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(append(append(b, '"'), name...), '"')
	return append(b, ':')
}

func appendComma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

// appendCount writes a member that is absent if it is 0.
func appendCount(b []byte, name string, n uint32) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendUint(appendMember(b, name), uint64(n), 10)
}

// appendString quotes s. Names rarely hold what has to be escaped.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := json.Marshal(text(s))
			if err != nil {
				return append(b, `""`...) // a string can always be encoded
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
