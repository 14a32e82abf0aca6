package eds

import (
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of the fields in Envoy's messages.
const (
	assignmentCluster, assignmentLocalities                                = 1, 2
	localityName, localityEndpoints, localityWeight, localityPriority      = 1, 2, 3, 5
	nameRegion, nameZone, nameSubzone                                      = 1, 2, 3
	lbEndpoint, lbHealth, lbMetadata, lbWeight                             = 1, 2, 3, 4
	endpointAddress, endpointAdditional, additionalAddress                 = 1, 4, 1
	addressSocket, addressPipe, addressInternal                            = 1, 2, 3
	socketAddress, socketPort, pipePath, internalListener, internalID      = 2, 3, 1, 1, 2
	metadataEntry, structEntry, entryKey, entryValue, valueText, wrapValue = 1, 1, 1, 2, 3, 1
)

// serialise writes what proto.Marshal would of the message, which would cost many
// times as much for services of thousands of endpoints.
func (a *Assignment) serialise() []byte {
	out := appendText(nil, assignmentCluster, a.Cluster)
	var locality, endpoint, scratch []byte
	for i := range a.Localities {
		l := &a.Localities[i]
		locality = l.appendName(locality[:0])
		for j := range l.Endpoints {
			endpoint, scratch = l.Endpoints[j].append(endpoint[:0], scratch)
			locality = appendMessage(locality, localityEndpoints, endpoint)
		}
		locality = appendWrapped(locality, localityWeight, l.Weight)
		locality = appendNumber(locality, localityPriority, uint64(l.Priority))
		out = appendMessage(out, assignmentLocalities, locality)
	}
	return out
}

func (l *LocalityEndpoints) appendName(b []byte) []byte {
	var name []byte
	name = appendText(name, nameRegion, l.Locality.Region)
	name = appendText(name, nameZone, l.Locality.Zone)
	name = appendText(name, nameSubzone, l.Locality.Subzone)
	return appendMessage(b, localityName, name)
}

// append adds the fields of the endpoint to b; scratch is returned for use again.
func (e *LbEndpoint) append(b, scratch []byte) (message, again []byte) {
	scratch = e.appendAddress(scratch[:0])
	if len(e.More) > 0 {
		b = appendMessage(b, lbEndpoint, e.appendOthers(appendMessage(nil, endpointAddress, scratch)))
	} else {
		b = appendNested(b, scratch, lbEndpoint, endpointAddress)
	}
	b = appendNumber(b, lbHealth, uint64(healthMessage(e.Health))) //nolint:gosec // the numbers are not negative
	if scratch = e.appendMetadata(scratch[:0]); len(scratch) > 0 {
		b = appendMessage(b, lbMetadata, scratch)
	}
	return appendWrapped(b, lbWeight, e.Weight), scratch
}

func (e *LbEndpoint) appendOthers(b []byte) []byte {
	for o := range e.others() {
		b = appendMessage(b, endpointAdditional, appendMessage(nil, additionalAddress, o.appendAddress(nil)))
	}
	return b
}

func (e *LbEndpoint) appendAddress(b []byte) []byte {
	var in []byte
	switch {
	case e.Tunnel:
		in = appendText(in, internalListener, connectOriginate)
		return appendMessage(b, addressInternal, appendText(in, internalID, e.hostPort()))
	case e.Port == 0:
		return appendMessage(b, addressPipe, appendText(in, pipePath, strings.TrimPrefix(e.Address, unixPrefix)))
	}
	address := text(e.Address)
	size := protowire.SizeTag(socketPort) + protowire.SizeVarint(uint64(e.Port))
	if address != "" {
		size += protowire.SizeTag(socketAddress) + protowire.SizeBytes(len(address))
	}
	b = protowire.AppendTag(b, addressSocket, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(size)) //nolint:gosec // sizes are not negative
	return appendNumber(appendText(b, socketAddress, address), socketPort, uint64(e.Port))
}

// appendMetadata writes the filters in the order of their names.
func (e *LbEndpoint) appendMetadata(b []byte) []byte {
	switch {
	case e.Tunnel:
		b = appendFilter(b, metadataOriginalDst, fieldLocal, e.hostPort())
		b = appendFilter(b, metadataSocketMatch, fieldTunnel, tunnelHTTP)
	case e.TLSMode != "":
		b = appendFilter(b, metadataSocketMatch, fieldTLSMode, e.TLSMode)
	}
	if e.Workload != "" {
		b = appendFilter(b, metadataIstio, fieldWorkload, e.Workload)
	}
	return b
}

// appendFilter writes one entry of filter metadata: a Struct of one text.
func appendFilter(b []byte, filter, key, value string) []byte {
	value = text(value)
	inner := protowire.SizeTag(valueText) + protowire.SizeBytes(len(value))
	field := entrySize(key, inner)
	fields := protowire.SizeTag(structEntry) + protowire.SizeBytes(field)
	b = appendEntry(b, metadataEntry, filter, fields)
	b = appendEntry(b, structEntry, key, inner)
	b = protowire.AppendTag(b, valueText, protowire.BytesType)
	return protowire.AppendString(b, value)
}

// appendEntry begins an entry of a map whose value has the size.
func appendEntry(b []byte, field protowire.Number, key string, size int) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(entrySize(key, size))) //nolint:gosec // sizes are not negative
	b = appendText(b, entryKey, key)
	b = protowire.AppendTag(b, entryValue, protowire.BytesType)
	return protowire.AppendVarint(b, uint64(size)) //nolint:gosec // sizes are not negative
}

func entrySize(key string, value int) int {
	return protowire.SizeTag(entryKey) + protowire.SizeBytes(len(key)) + protowire.SizeTag(entryValue) + protowire.SizeBytes(value)
}

func appendText(b []byte, field protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), text(s))
}

func appendMessage(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

// appendNested writes m as the field inner of a message that is the field outer.
func appendNested(b, m []byte, outer, inner protowire.Number) []byte {
	b = protowire.AppendTag(b, outer, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(protowire.SizeTag(inner)+protowire.SizeBytes(len(m)))) //nolint:gosec // sizes are not negative
	return appendMessage(b, inner, m)
}

func appendNumber(b []byte, field protowire.Number, n uint64) []byte {
	if n == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

// appendWrapped writes a UInt32Value; 0 stands for none.
func appendWrapped(b []byte, field protowire.Number, n uint32) []byte {
	if n == 0 {
		return b
	}
	b = protowire.AppendTag(b, field, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(protowire.SizeTag(wrapValue)+protowire.SizeVarint(uint64(n)))) //nolint:gosec // sizes are not negative
	return appendNumber(b, wrapValue, uint64(n))
}

// text makes s fit for protobuf.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}
