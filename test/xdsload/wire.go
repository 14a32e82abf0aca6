package main

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
)

// fields calls f for each field of a message.
func fields(b []byte, f func(num protowire.Number, typ protowire.Type, v []byte, u uint64) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var v []byte
		var u uint64
		switch typ {
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			u, n = protowire.ConsumeVarint(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if err := f(num, typ, v, u); err != nil {
			return err
		}
	}
	return nil
}

func anyValue(b []byte) (val []byte, err error) {
	err = fields(b, func(num protowire.Number, _ protowire.Type, v []byte, _ uint64) error {
		if num == 2 {
			val = v
		}
		return nil
	})
	return
}

// message is a response of either protocol, with the values of its resources.
type message struct {
	version, nonce, typeURL string
	resources               [][]byte
	removed                 []string
}

func parse(b []byte, delta bool) (*message, error) {
	m := &message{}
	return m, fields(b, func(num protowire.Number, _ protowire.Type, v []byte, _ uint64) error {
		switch {
		case num == 1:
			m.version = string(v)
		case num == 2:
			if delta { // a Resource wraps the Any, as its field 2
				var err error
				if v, err = anyValue(v); err != nil {
					return err
				}
			}
			val, err := anyValue(v)
			m.resources = append(m.resources, val)
			return err
		case num == 4:
			m.typeURL = string(v)
		case num == 5:
			m.nonce = string(v)
		case num == 6 && delta:
			m.removed = append(m.removed, string(v))
		}
		return nil
	})
}

// typeIsEDS is the value of a cluster's type for endpoints by EDS.
const typeIsEDS = 3

// clusterOf returns the name of a cluster, and that of its endpoints, "" if they do
// not come by EDS.
func clusterOf(r []byte) (name, eds string, err error) {
	isEDS := false
	err = fields(r, func(num protowire.Number, _ protowire.Type, v []byte, u uint64) error {
		switch num {
		case 1:
			name = string(v)
		case 2:
			isEDS = u == typeIsEDS
		case 3: // the settings of EDS, whose second field names the service
			val, err := anyValue(v)
			eds = string(val)
			return err
		}
		return nil
	})
	switch {
	case !isEDS:
		eds = ""
	case eds == "":
		eds = name
	}
	return name, eds, err
}

// assignment is what is looked at of one: its name, the hash of its healthy endpoints
// and its highest marker.
type assignment struct {
	name   string
	hash   uint64
	marker uint32
}

// assignments remembers those that were read: all clients get the same ones, and each
// should cost the machine little more than its reading from the socket.
type assignments struct {
	seed  maphash.Seed
	known sync.Map // hash of the bytes → assignment
	count atomic.Int64
}

// maxKnown bounds memory.
const maxKnown = 1 << 16

func (a *assignments) read(r []byte) (assignment, error) {
	key := maphash.Bytes(a.seed, r)
	if v, ok := a.known.Load(key); ok {
		return v.(assignment), nil
	}
	v, err := assignmentOf(r)
	if err == nil {
		if a.count.Add(1) > maxKnown {
			a.known.Clear()
			a.count.Store(0)
		}
		a.known.Store(key, v)
	}
	return v, err
}

// assignmentOf reads one. cluster_name=1, endpoints=2 {lb_endpoints=2 {endpoint=1
// {address=1 {socket_address=1 {address=2 port_value=3}}}, health_status=2}}.
func assignmentOf(r []byte) (a assignment, err error) {
	err = fields(r, func(num protowire.Number, _ protowire.Type, v []byte, _ uint64) error {
		switch num {
		case 1:
			a.name = string(v)
		case 2:
			return fields(v, func(num protowire.Number, _ protowire.Type, v []byte, _ uint64) error {
				if num != 2 {
					return nil
				}
				addr, port, health, err := endpointOf(v)
				if health > 1 || err != nil { // UNKNOWN and HEALTHY count
					return err
				}
				if ip, ok := parseIP4(addr); ok {
					a.hash += epHash(ip, uint32(port))
					if isMarker(ip) {
						a.marker = max(a.marker, ip-markerBase)
					}
				}
				return nil
			})
		}
		return nil
	})
	return a, err
}

func endpointOf(b []byte) (addr []byte, port, health uint64, err error) {
	err = fields(b, func(num protowire.Number, _ protowire.Type, v []byte, u uint64) error {
		switch num {
		case 1:
			return within(v, 2, func(num protowire.Number, v []byte, u uint64) {
				switch num {
				case 2:
					addr = v
				case 3:
					port = u
				}
			})
		case 2:
			health = u
		}
		return nil
	})
	return addr, port, health, err
}

// within calls f for the fields of the message that is field 1 of field 1 and so on,
// depth times.
func within(b []byte, depth int, f func(num protowire.Number, v []byte, u uint64)) error {
	return fields(b, func(num protowire.Number, _ protowire.Type, v []byte, u uint64) error {
		switch {
		case depth == 0:
			f(num, v, u)
		case num == 1:
			return within(v, depth-1, f)
		}
		return nil
	})
}
