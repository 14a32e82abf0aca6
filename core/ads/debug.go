package ads

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	adminv3 "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/session"
)

// The types by which istioctl asks.
const (
	typeDebug = debugPrefix
	typeSyncz = debugPrefix + "/syncz"
	typeDump  = debugPrefix + "/config_dump"
)

// Caller is who opened a stream. The zero value is nobody in particular, who gets
// configuration where that is served in clear, and may not ask for debug types.
type Caller struct {
	Name string
	// Namespace of the caller, whose proxies it may be and look at; "" if it has
	// none.
	Namespace string
	// All tells that it may look at everything.
	All bool
	// Proved tells that the caller has shown who it is; it then gets what is for
	// proxies of its own namespace only.
	Proved bool
}

// Authenticator finds out who opens a stream.
type Authenticator func(ctx context.Context) (Caller, error)

// Debug answers a debug handler by its name and query. An error of gRPC goes to the
// caller as it is, any other says that it may not ask.
type Debug func(ctx context.Context, c Caller, name string) ([]byte, error)

// serveDebug answers requests for debug types, one by one, until the client goes.
func (s *Server) serveDebug(ctx context.Context, r *reader, c Caller, first *request) error {
	if r.delta {
		return status.Error(codes.InvalidArgument, "debug types are for state-of-the-world streams")
	}
	for n, req := uint64(1), first; ; n++ {
		answer, err := s.debugAnswer(ctx, c, req)
		if err != nil {
			return err
		}
		tail := &response{typeURL: req.typeURL, version: strconv.FormatUint(s.core.Snapshot().Version, 10), nonce: strconv.FormatUint(n, 10)}
		err = s.within(ctx, errStuck, func() error {
			return r.stream.SendMsg(slices.Concat(answer, tail.message(), mem.BufferSlice{s.identity}))
		})
		if err != nil {
			return err
		}
		if req, err = r.question(); err != nil {
			return ended(err)
		}
	}
}

// identity is the field of a state-of-the-world response with what istioctl reads of
// the server.
func identity(name, version string) mem.Buffer {
	text, err := json.Marshal(map[string]any{"Component": "edsight", "ID": name, "Info": map[string]string{"version": version}})
	if err != nil {
		return nil // texts can always be written
	}
	const fieldControlPlane, fieldIdentifier = 6, 1
	b := protowire.AppendTag(nil, fieldControlPlane, protowire.BytesType)
	return mem.SliceBuffer(protowire.AppendBytes(b, appendString(nil, fieldIdentifier, string(text))))
}

// question returns the next request that is no acknowledgement, with its names, even
// if they are those of the one before.
func (r *reader) question() (*request, error) {
	for {
		clear(r.hashes)
		req, err := r.next()
		if err != nil || req.nonce == "" {
			return req, err
		}
	}
}

// debugAnswer makes the resources of one answer.
func (s *Server) debugAnswer(ctx context.Context, c Caller, r *request) (mem.BufferSlice, error) {
	if !c.All && c.Namespace == "" {
		return nil, status.Errorf(codes.PermissionDenied, "debug types are not for anonymous callers")
	}
	switch r.typeURL {
	case typeSyncz:
		return s.syncz(c)
	case typeDump:
		return s.configDump(c, r.names)
	case typeDebug:
		if len(r.names) != 1 {
			return nil, status.Error(codes.InvalidArgument, "name exactly one debug handler")
		}
		if s.debug == nil {
			return nil, status.Error(codes.Unimplemented, "debug handlers are not served here")
		}
		body, err := s.debug(ctx, c, r.names[0])
		if _, ok := status.FromError(err); !ok {
			err = status.Error(codes.PermissionDenied, err.Error())
		}
		if err != nil {
			return nil, err
		}
		return mem.BufferSlice{newResource(typeDebug, "", body).sotw}, nil
	}
	return nil, status.Errorf(codes.InvalidArgument, "there is no type %q", r.typeURL)
}

// boxed is the field of a response with a message.
func boxed(m proto.Message) (mem.Buffer, error) {
	r, err := marshal(typePrefix+string(proto.MessageName(m)), "", m)
	if err != nil {
		return nil, err
	}
	return r.sotw, nil
}

// syncz gives one ClientConfig per connected proxy that the caller may see.
func (s *Server) syncz(c Caller) (mem.BufferSlice, error) {
	var out mem.BufferSlice
	for _, one := range s.Sessions() {
		if !c.All && one.Node.Pod.Namespace != c.Namespace {
			continue // not the caller's
		}
		m, err := clientConfig(&one)
		if err != nil {
			return nil, err
		}
		b, err := boxed(m)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func clientConfig(one *session.Session) (*statusv3.ClientConfig, error) {
	meta, err := structpb.NewStruct(map[string]any{
		"CLUSTER_ID": string(one.Node.Pod.Cluster), "NAMESPACE": one.Node.Pod.Namespace, "ISTIO_VERSION": one.Node.IstioVersion,
	})
	if err != nil {
		return nil, err
	}
	m := &statusv3.ClientConfig{Node: &corev3.Node{Id: one.Proxy, Metadata: meta}}
	for i := range one.Types {
		t := &one.Types[i]
		m.GenericXdsConfigs = append(m.GenericXdsConfigs, &statusv3.ClientConfig_GenericXdsConfig{
			TypeUrl: t.URL, ConfigStatus: statusv3.ConfigStatus(statusv3.ConfigStatus_value[string(t.Status())]),
		})
	}
	return m, nil
}

// configDump gives the parts of the config dump of one proxy.
func (s *Server) configDump(c Caller, names []string) (mem.BufferSlice, error) {
	if len(names) != 1 {
		return nil, status.Error(codes.InvalidArgument, "name exactly one proxy")
	}
	snap := s.core.Snapshot()
	p := snap.Proxy(names[0])
	if p == nil || (!c.All && p.Namespace != c.Namespace) {
		return nil, status.Errorf(codes.NotFound, "proxy %q is not known", names[0])
	}
	if s.isLibrary(p.ID) {
		return nil, status.Errorf(codes.Unimplemented, "%q is a library of gRPC, and has no configuration of an Envoy to compare", names[0])
	}
	parts, err := debugz.ConfigDump(cds.Build(snap, ofKind(p, false)), snap.Mesh, true)
	if err != nil {
		return nil, err
	}
	// istioctl compares listeners and routes, too, of which Envoys get none.
	messages := []proto.Message{&adminv3.ListenersConfigDump{}, &adminv3.RoutesConfigDump{}}
	for _, part := range parts {
		messages = append(messages, part.Message)
	}
	var out mem.BufferSlice
	for _, m := range messages {
		b, err := boxed(m)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// isLibrary tells whether all streams of a proxy are of libraries of gRPC.
func (s *Server) isLibrary(proxy string) bool {
	own := slices.DeleteFunc(s.Sessions(), func(one session.Session) bool { return one.Proxy != proxy })
	return len(own) > 0 && !slices.ContainsFunc(own, func(one session.Session) bool { return !one.Node.GRPC })
}

func isDebug(typeURL string) bool {
	return typeURL == debugPrefix || strings.HasPrefix(typeURL, debugPrefix+"/")
}
