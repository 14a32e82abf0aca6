package e2e_test

import (
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/kube"
	"github.com/edsight/edsight/test/kubetest"
)

const (
	operationCount = 600
	moments        = 40
	// settleTime is how long a difference may last without any news.
	settleTime = 10 * time.Second
)

var seedFlag = flag.Uint64("seed", 0, "what the random operations are drawn from; 0 draws a seed")

// The living core equals one that starts from scratch, at 40 moments among 600
// random operations on objects of all kinds. A failure names the seed, and the
// operations since the last moment at which they were equal.
func TestLivingEqualsStartedAtRandomMoments(t *testing.T) {
	t.Parallel()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("again with -seed %d", seed)
	k := kubetest.Start(t, kubetest.Options{Controllers: true, Istio: true})
	o := newOperations(t, k, seed)
	features := registry.Features{ServiceImports: seed%2 == 0, ServiceExports: seed%4 == 0}
	living := startMesh(t, k, features)
	w := &writer{Applier: k.Applier(), operations: o, kinds: map[string]int{}}
	begin := time.Now()
	var states uint64
	for range moments {
		var done []string
		for range operationCount / moments {
			done = append(done, w.operate(t))
		}
		compare(t, k, living, features, done)
		states = living.control.Journal().Last()
	}
	if len(w.kinds) < 18 || w.done < operationCount*9/10 || states < moments {
		t.Errorf("too little was done: %d operations on %v, %d states", w.done, w.kinds, states)
	}
	t.Logf("%d operations, %d refused, %d states in %v: %v", w.done, w.refused, states, time.Since(begin).Round(time.Millisecond), w.kinds)
}

func newOperations(t *testing.T, k *kubetest.Cluster, seed uint64) *operations {
	t.Helper()
	for _, namespace := range []string{"a", "b", "istio-system"} {
		k.Namespace(namespace)
	}
	for kind, plural := range map[string]string{"ServiceExport": "serviceexports", "ServiceImport": "serviceimports"} {
		k.Define(k.Parse([]byte(strings.NewReplacer("KIND", kind, "PLURAL", plural).Replace(string(readTestdata(t, "mcs.yaml")))))...)
	}
	k.Apply(k.Parse(readTestdata(t, "reader.yaml"))...)
	o := &operations{Rand: rand.New(rand.NewPCG(seed, 0)), k: k}
	for _, account := range []string{"one", "two"} {
		kubeconfig := k.PortableKubeconfig(k.ServiceAccountConfig("istio-system", account))
		o.kubeconfigs = append(o.kubeconfigs, base64.StdEncoding.EncodeToString(kubeconfig))
	}
	return o
}

// startMesh starts the core with the source of a mesh.
func startMesh(t *testing.T, k *kubetest.Cluster, features registry.Features) *inProcess {
	t.Helper()
	mesh, err := kube.NewMesh(k.Config(), kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return startCore(t, control.Options{Source: mesh, Features: features, JournalSize: 1 << 14})
}

// writer writes what is drawn.
type writer struct {
	*kubetest.Applier
	*operations
	done, refused int
	kinds         map[string]int
}

// operate does one operation that the API server accepts, and describes it.
func (w *writer) operate(t *testing.T) string {
	t.Helper()
	for {
		manifest, remove := w.draw()
		obj := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), &obj.Object); err != nil {
			t.Fatalf("%v:\n%s", err, manifest)
		}
		err := w.write(t.Context(), obj, remove)
		switch {
		case err == nil:
			w.done++
			w.kinds[obj.GetKind()]++
			if obj.GetKind() == "Secret" {
				manifest = "remote secret"
			}
			return fmt.Sprintf("# delete: %v\n%s", remove, manifest)
		case apierrors.IsNotFound(err), apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
			w.refused++ // what is drawn may not fit what is there
		default:
			t.Fatalf("%v:\n%s", err, manifest)
		}
	}
}

func (w *writer) write(ctx context.Context, obj *unstructured.Unstructured, remove bool) error {
	switch {
	case remove:
		return w.Delete(ctx, obj)
	case obj.Object["subresource"] != nil:
		delete(obj.Object, "subresource")
		return w.report(ctx, obj)
	case obj.GetKind() == "Pod":
		// A Pod's spec cannot be changed: it is replaced, or its labels are.
		if w.IntN(2) == 0 {
			return w.label(ctx, obj)
		}
		if err := w.Delete(ctx, obj); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return w.Apply(ctx, obj)
}

// label gives a Pod other labels.
func (w *writer) label(ctx context.Context, obj *unstructured.Unstructured) error {
	pods := w.k.Client.CoreV1().Pods(obj.GetNamespace())
	pod, err := pods.Get(ctx, obj.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	pod.Labels = obj.GetLabels()
	_, err = pods.Update(ctx, pod, metav1.UpdateOptions{})
	return err
}

// report writes the status of a Pod.
func (w *writer) report(ctx context.Context, obj *unstructured.Unstructured) error {
	pods := w.k.Client.CoreV1().Pods(obj.GetNamespace())
	pod, err := pods.Get(ctx, obj.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	raw, err := yaml.Marshal(obj.Object["status"])
	if err != nil {
		return err
	}
	pod.Status = corev1.PodStatus{}
	if err := yaml.Unmarshal(raw, &pod.Status); err != nil {
		return err
	}
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// compare starts a core from scratch and waits until both have read the same, and
// are equal. If they differ although neither has any news for a time, they do
// differ.
func compare(t *testing.T, k *kubetest.Cluster, living *inProcess, features registry.Features, done []string) {
	t.Helper()
	mesh, err := kube.NewMesh(k.Config(), kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	fresh := control.New(control.Options{Source: mesh, Features: features})
	ended := make(chan error, 1)
	go func() { ended <- fresh.Run(ctx) }()
	if err := fresh.Journal().Wait(ctx, 1); err != nil {
		t.Fatal(err)
	}
	for {
		nextLiving, nextFresh := living.control.Journal().Last()+1, fresh.Journal().Last()+1
		a, b := versions(living.guard), versions(mesh)
		one, other := coretest.Dump(living.control.Snapshot()), coretest.Dump(fresh.Snapshot())
		if slices.Equal(a, b) && one == other && slices.Equal(a, versions(living.guard)) {
			break
		}
		if !news(ctx, settleTime, func(ctx context.Context) { _ = living.control.Journal().Wait(ctx, nextLiving) },
			func(ctx context.Context) { _ = fresh.Journal().Wait(ctx, nextFresh) }) {
			t.Fatalf("after\n%s\nread (-fresh +living):\n%s\nstate (-fresh +living):\n%s", strings.Join(done, "\n---\n"),
				cmp.Diff(b, a), cmp.Diff(strings.Split(other, "\n"), strings.Split(one, "\n")))
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// versions are the objects that a source has, sorted.
func versions(s source.Source) []string {
	var all []string
	for key, o := range s.All() {
		all = append(all, fmt.Sprintf("%s@%s %s", key, key.Cluster, o.GetResourceVersion()))
	}
	slices.Sort(all)
	return all
}

func readTestdata(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// news tells whether one of the waits ended before the time.
func news(ctx context.Context, limit time.Duration, waits ...func(context.Context)) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ended := make(chan bool, len(waits))
	for _, wait := range waits {
		go func() {
			wait(ctx)
			ended <- ctx.Err() == nil
		}()
	}
	return <-ended
}
