package kube

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// secretToken must not be in any message.
const secretToken = "s3cret-t0ken"

func kubeconfigWith(cluster, user string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: c
clusters: [{name: far, cluster: {%s}}]
users: [{name: reader, user: {%s}}]
contexts: [{name: c, context: {cluster: far, user: reader}}]
`, cluster, user)
}

const (
	farServer = "server: 'https://far.example.com'"
	farToken  = "token: " + secretToken
)

func TestKubeconfigOfOthersIsHeldInBounds(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, content string
		fails         string // "" is accepted
	}{
		{"as istioctl writes it", kubeconfigWith(farServer+", certificate-authority-data: QQ==", farToken), ""},
		{"client certificate", kubeconfigWith(farServer, "client-certificate-data: QQ==, client-key-data: QQ=="), ""},
		{"exec", kubeconfigWith(farServer, "exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/sh, interactiveMode: Never}"), "exec"},
		{"auth provider", kubeconfigWith(farServer, "auth-provider: {name: oidc}"), "auth-provider"},
		{"token file", kubeconfigWith(farServer, farToken+", tokenFile: /etc/passwd"), "tokenFile"},
		{"certificate file", kubeconfigWith(farServer, "client-certificate: /a, client-key-data: QQ=="), "client-certificate"},
		{"key file", kubeconfigWith(farServer, "client-certificate-data: QQ==, client-key: /a"), "client-key"},
		{"authority file", kubeconfigWith(farServer+", certificate-authority: /a", farToken), "certificate-authority"},
		{
			"exec of another user", strings.Replace(kubeconfigWith(farServer, farToken), "users: [",
				"users: [{name: other, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: x}}}, ", 1), `user "other" has exec`,
		},
		{"no server", kubeconfigWith("", farToken), "cannot be used"},
		{"no such context", strings.Replace(kubeconfigWith(farServer, farToken), "current-context: c", "current-context: d", 1), "cannot be used"},
		{"empty", "", "cannot be used"},
		{"not YAML", "{" + secretToken, "is no kubeconfig"},
		{"other types", "users: " + secretToken, "is no kubeconfig"},
		{"token of another type", kubeconfigWith(farServer, "token: ["+secretToken+"]"), "is no kubeconfig"},
		{"huge", strings.Repeat("#", maxKubeconfig+1), "bytes"},
		{"aliases", "a: &a [1]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b,*b,*b]\n", "cannot be used"},
	}
	for _, c := range cases {
		cfg, err := parseKubeconfig([]byte(c.content))
		switch {
		case c.fails == "" && (err != nil || cfg.Host != "https://far.example.com"):
			t.Errorf("%s: %v, %v", c.name, cfg, err)
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.fails)
		case err != nil && strings.Contains(err.Error(), secretToken):
			t.Errorf("%s: the error tells the token: %v", c.name, err)
		}
	}
}

// FuzzKubeconfig holds that no kubeconfig which is accepted has a program
// started or a file read.
func FuzzKubeconfig(f *testing.F) {
	for _, user := range []string{farToken, "exec: {command: x}", "tokenFile: /a", "auth-provider: {name: x}", "client-key: /a"} {
		f.Add([]byte(kubeconfigWith(farServer, user)))
	}
	f.Add([]byte(kubeconfigWith(farServer+", certificate-authority: /a", "username: a, password: b")))
	f.Fuzz(func(t *testing.T, content []byte) {
		cfg, err := parseKubeconfig(content)
		if err != nil {
			return
		}
		if cfg.ExecProvider != nil || cfg.AuthProvider != nil || cfg.BearerTokenFile != "" || cfg.CAFile != "" || cfg.CertFile != "" || cfg.KeyFile != "" {
			t.Errorf("accepted: %+v", cfg)
		}
	})
}

func remoteSecret(name string, age int, data map[string]string) *corev1.Secret {
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "istio-system", Name: name, CreationTimestamp: metav1.Time{Time: early.Add(-time.Duration(age) * time.Hour)},
		},
		Data: map[string][]byte{},
	}
	for id, kubeconfig := range data {
		s.Data[id] = []byte(kubeconfig)
	}
	return s
}

func TestSecretsNameRemoteClusters(t *testing.T) {
	t.Parallel()
	good := kubeconfigWith(farServer, farToken)
	bad := kubeconfigWith(farServer, "tokenFile: /a")
	secrets := []*corev1.Secret{
		remoteSecret("young", 1, map[string]string{"east": good, "north": good}),
		remoteSecret("old", 2, map[string]string{"east": good, "west": good, "home": good}),
		remoteSecret("oldest", 3, map[string]string{"south": bad, "north": bad}),
	}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		f := readSecrets([]*corev1.Secret{secrets[order[0]], secrets[order[1]], secrets[order[2]]}, "home")
		var got []string
		for _, w := range f.usable {
			got = append(got, fmt.Sprintf("%s of %s", w.id, w.secret.Name))
		}
		for _, p := range f.problems {
			got = append(got, fmt.Sprintf("%s %s: %s", p.Object.Name, p.Field, p.Message))
		}
		want := []string{
			"east of old", "west of old", "north of young",
			`oldest data.north: user "reader" has tokenFile, which is refused: it would start a program or read a file here`,
			`oldest data.south: user "reader" has tokenFile, which is refused: it would start a program or read a file here`,
			"old data.home: is ignored: home is the cluster that this Secret is in",
			"young data.east: is ignored: cluster east is already that of Secret/istio-system/old",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("order %v (-want +got):\n%s", order, diff)
		}
		for _, id := range []model.ClusterID{"east", "west", "north", "south"} {
			if !f.names(id) {
				t.Errorf("%s is not named", id)
			}
		}
		if f.names("home") || f.names("nowhere") {
			t.Error("clusters are named that are not there")
		}
	}
}

func TestProblemsKeepTheirTime(t *testing.T) {
	t.Parallel()
	a, b := source.Problem{Field: "data.a", Message: "m"}, source.Problem{Field: "data.b", Message: "m"}
	before := since([]source.Problem{a}, nil, early.Time)
	after := since([]source.Problem{a, b}, before, late.Time)
	if !after[0].Since.Equal(early.Time) || !after[1].Since.Equal(late.Time) {
		t.Errorf("problems are since %v and %v", after[0].Since, after[1].Since)
	}
}

func TestStripSecretKeepsNothingButTheData(t *testing.T) {
	t.Parallel()
	s := remoteSecret("east", 1, map[string]string{"east": "x"})
	s.Annotations = map[string]string{lastApplied: secretToken}
	s.StringData = map[string]string{"a": "b"}
	got := stripSecret(s)
	if got.Annotations != nil || got.StringData != nil || string(got.Data["east"]) != "x" || !got.CreationTimestamp.Equal(&s.CreationTimestamp) {
		t.Errorf("stripped secret: %+v", got)
	}
}
