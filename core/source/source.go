package source

import (
	"context"
	"iter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/edsight/edsight/core/model"
)

// Object is a typed Kubernetes or Istio object, for example *corev1.Pod or
// *networkingv1.ServiceEntry of istio.io/client-go. It is read-only.
type Object interface {
	metav1.Object
	runtime.Object
}

// Op is what happened to an object.
type Op string

// The operations.
const (
	OpAdd    Op = "add"
	OpUpdate Op = "update"
	OpDelete Op = "delete"
	// The proxy of a Pod opened its stream, or its last one ended.
	OpConnect    Op = "connect"
	OpDisconnect Op = "disconnect"
	// The addresses of a name that the object has changed.
	OpResolve Op = "resolve"
)

// Cause is one change of one object as a source saw it.
type Cause struct {
	Key             model.ObjectKey `json:"key"`
	Op              Op              `json:"op"`
	ResourceVersion string          `json:"resourceVersion,omitempty"`
	// Actor is who wrote the change (the last manager of managedFields), "" if
	// unknown.
	Actor string `json:"actor,omitempty"`
	// Seen is when the source learned of the change.
	Seen time.Time `json:"seen"`
}

// Sink takes the keys of changed objects. Its methods never block.
type Sink interface {
	// Dirty tells that objects changed.
	Dirty(causes ...Cause)
	// Synced tells that everything which existed at the start has been said.
	// Further calls have no effect.
	Synced()
}

// Locator is a Source that knows where its objects are written.
type Locator interface {
	// Where is "file:line", "" if the object is in no file.
	Where(key model.ObjectKey) string
}

// Problem is something wrong with an input, in words for a person.
type Problem struct {
	// Object is zero if the problem is about a whole file or connection.
	Object model.ObjectKey `json:"object,omitzero"`
	// Where is "file:line", a cluster, or "".
	Where string `json:"where,omitempty"`
	// Field is the path of the field, "" if the problem is about the whole.
	Field   string    `json:"field,omitempty"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
	// Until is when it was mended, zero while it lasts.
	Until time.Time `json:"until,omitzero"`
}

// ClusterStatus is the state of the connection to one cluster.
type ClusterStatus struct {
	ID         model.ClusterID `json:"id"`
	SecretName string          `json:"secretName,omitempty"`
	// Sync is one of "syncing", "synced", "timeout", "closed", as in clusterz.
	Sync string `json:"syncStatus"`
	// Connected is false while the API server cannot be reached; what was known
	// is still served then.
	Connected bool `json:"connected"`
	// LastEvent is when the cluster was last heard of.
	LastEvent time.Time `json:"lastEvent,omitzero"`
	// Since is since when the present credentials are in use, zero if that is not
	// known.
	Since time.Time `json:"since,omitzero"`
	// Error is the last error of the connection, "" if there is none.
	Error string `json:"error,omitempty"`
}

// Status is what a source says of itself.
type Status struct {
	// Name says what the source is, for example "kubernetes https://10.0.0.1".
	Name     string          `json:"name"`
	Clusters []ClusterStatus `json:"clusters"`
	Problems []Problem       `json:"problems,omitempty"`
	// Mended are the last problems that are no more, the oldest first.
	Mended []Problem `json:"mended,omitempty"`
}

// Source holds objects and tells of their changes.
type Source interface {
	// Run tells sink of every object and then of every change until ctx is done.
	// It returns an error only if the source cannot work at all.
	Run(ctx context.Context, sink Sink) error
	// Get returns the current object, or nil.
	Get(key model.ObjectKey) Object
	// All iterates over the current objects of all kinds, in any order.
	All() iter.Seq2[model.ObjectKey, Object]
	// Status may be called at any time.
	Status() Status
}
