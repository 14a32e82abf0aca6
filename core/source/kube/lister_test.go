package kube

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/randfill"
)

// encode is an object as the API server sends it.
func encode(t testing.TB, e runtime.Encoder, o runtime.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := e.Encode(o, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func protobufOf(t testing.TB, o runtime.Object) []byte {
	t.Helper()
	return encode(t, protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), o)
}

// podLister lists the Pods of the API server at a URL.
func podLister(t *testing.T, url string) lister[*corev1.PodList, corev1.Pod, *corev1.Pod] {
	t.Helper()
	clients, err := connect(&rest.Config{Host: url}, "c")
	if err != nil {
		t.Fatal(err)
	}
	core := clients.core.CoreV1()
	return lister[*corev1.PodList, corev1.Pod, *corev1.Pod]{
		api: core.Pods(metav1.NamespaceAll), rest: core.RESTClient(), resource: "pods", fields: keptPod(), strip: stripPod,
	}
}

// podsOf are the Pods that an API server with that answer has.
func podsOf(t *testing.T, status int, contentType string, answer []byte) (pods []*corev1.Pod, resourceVersion string, err error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/pods" || r.URL.Query().Has("limit") {
			t.Errorf("asked for %s", r.URL)
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write(answer) // the client may be gone
	}))
	defer server.Close()
	list, err := podLister(t, server.URL).List(t.Context(), metav1.ListOptions{ResourceVersion: "0", Limit: 500})
	if err != nil {
		return nil, "", err
	}
	for _, item := range list.Items {
		pod, ok := item.(*corev1.Pod)
		if !ok {
			t.Fatalf("a %T among the Pods", item)
		}
		pods = append(pods, pod)
	}
	return pods, list.ResourceVersion, nil
}

// randomPods are some Pods, and what is to be stored of them.
func randomPods(t *testing.T, seed int64) (all *corev1.PodList, want []*corev1.Pod) {
	t.Helper()
	all = &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "77"}}
	fill := randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3).MaxDepth(8)
	for range 20 {
		random, pod := &corev1.Pod{}, &corev1.Pod{}
		fill.Fill(random)
		encoded, err := random.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if err := pod.Unmarshal(encoded); err != nil {
			t.Fatal(err)
		}
		all.Items = append(all.Items, *pod.DeepCopy())
		want = append(want, stripPod(pod))
	}
	return all, want
}

func TestListIsAsDecodedWhole(t *testing.T) {
	t.Parallel()
	for seed := range int64(20) {
		all, want := randomPods(t, seed)
		got, version, err := podsOf(t, http.StatusOK, runtime.ContentTypeProtobuf, protobufOf(t, all))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(want, got); diff != "" || version != "77" {
			t.Fatalf("seed %d: version %q, Pods:\n%s", seed, version, diff)
		}
	}
}

func TestListFromServerWithoutProtobuf(t *testing.T) {
	t.Parallel()
	all := &corev1.PodList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "77"}, Items: []corev1.Pod{*fullPod()},
	}
	answer := encode(t, json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{}), all)
	got, version, err := podsOf(t, http.StatusOK, runtime.ContentTypeJSON, answer)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*corev1.Pod{stripPod(fullPod())}, got); diff != "" || version != "77" {
		t.Errorf("version %q, Pods:\n%s", version, diff)
	}
}

func TestListThatFails(t *testing.T) {
	t.Parallel()
	all, _ := randomPods(t, 1)
	whole := protobufOf(t, all)
	for name, tt := range map[string]struct {
		answer []byte
		want   string
	}{
		"cut off in the list": {whole[:len(whole)/2], "list of pods: unexpected EOF"},
		"cut off at once":     {whole[:len(magic)], "list of pods: unexpected EOF"},
		"a bad Pod":           {[]byte(magic + "\x12\x04\x12\x02\x0a\x7f"), "list of pods: item 0: "},
		"an item too long":    {[]byte(magic + "\x12\x04\x12\x7f\x0a\x01"), "list of pods: field 2 is longer than what it is in"},
	} {
		_, _, err := podsOf(t, http.StatusOK, runtime.ContentTypeProtobuf, tt.answer)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	status := protobufOf(t, &apierrors.NewForbidden(corev1.Resource("pods"), "", nil).ErrStatus)
	if _, _, err := podsOf(t, http.StatusForbidden, runtime.ContentTypeProtobuf, status); !apierrors.IsForbidden(err) {
		t.Errorf("refused: %v", err)
	}
}

// TestListIsNotAskedForAgain when the connection breaks before it begins.
func TestListIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")) // what comes of it is looked at
		_ = conn.Close()
	}))
	defer server.Close()
	_, err := podLister(t, server.URL).List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
	if !errors.Is(err, io.ErrUnexpectedEOF) || requests.Load() != 1 {
		t.Errorf("%d requests, and %v; want one, and %v", requests.Load(), err, io.ErrUnexpectedEOF)
	}
}

// FuzzList has the reader take anything: it gives a list or an error.
func FuzzList(f *testing.F) {
	f.Add(protobufOf(f, &corev1.PodList{ListMeta: metav1.ListMeta{Continue: "x"}, Items: []corev1.Pod{*fullPod()}})[len(magic):])
	f.Add([]byte{})
	l := lister[*corev1.PodList, corev1.Pod, *corev1.Pod]{resource: "pods", fields: keptPod(), strip: stripPod}
	f.Fuzz(func(t *testing.T, answer []byte) {
		list, err := l.read(bufio.NewReader(io.MultiReader(strings.NewReader(magic), bytes.NewReader(answer))))
		if (list == nil) != (err != nil) {
			t.Errorf("list %v and error %v", list, err)
		}
	})
}

// TestWatchEndsWhenStopped stops a watch with an event under way that nobody takes.
func TestWatchEndsWhenStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 2})
		l := lister[*corev1.PodList, corev1.Pod, *corev1.Pod]{api: watching{events}, strip: stripPod}
		w, err := l.Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		events.Add(fullPod())
		events.Add(fullPod())
		event := <-w.ResultChan()
		if diff := cmp.Diff(runtime.Object(stripPod(fullPod())), event.Object); diff != "" {
			t.Errorf("the event has:\n%s", diff)
		}
		synctest.Wait() // the other is under way
		w.Stop()
	}) // ends when all goroutines have
}

// watching is a client with that watch.
type watching struct{ watch watch.Interface }

func (watching) List(context.Context, metav1.ListOptions) (*corev1.PodList, error) {
	return nil, errors.ErrUnsupported
}

func (w watching) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return w.watch, nil
}
