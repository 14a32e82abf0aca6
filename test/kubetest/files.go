package kubetest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	adminToken = "admin-of-the-test" //nolint:gosec // it opens nothing but the test's own cluster
	keyBits    = 2048
)

// writeKeys writes the key of service account tokens and the administrator's
// token.
func (c *Cluster) writeKeys() {
	c.t.Helper()
	key := must(rsa.GenerateKey(rand.Reader, keyBits))(c.t)
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	c.write("sa.key", pem.EncodeToMemory(block))
	c.write("tokens.csv", []byte(adminToken+`,admin,admin,"system:masters"`+"\n"))
}

func (c *Cluster) write(name string, content []byte) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// Kubeconfig writes a kubeconfig of a connection and returns its path.
func (c *Cluster) Kubeconfig(config *rest.Config) string {
	c.t.Helper()
	path := filepath.Join(c.t.TempDir(), "kubeconfig")
	file := kubeconfig(config, &clientcmdapi.Cluster{CertificateAuthority: config.CAFile})
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// PortableKubeconfig is a kubeconfig of a connection that refers to no file, as
// a Secret for a remote cluster holds it.
func (c *Cluster) PortableKubeconfig(config *rest.Config) []byte {
	c.t.Helper()
	authority := must(os.ReadFile(config.CAFile))(c.t)
	return must(clientcmd.Write(*kubeconfig(config, &clientcmdapi.Cluster{CertificateAuthorityData: authority})))(c.t)
}

func kubeconfig(config *rest.Config, cluster *clientcmdapi.Cluster) *clientcmdapi.Config {
	const name = "test"
	cluster.Server = config.Host
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = cluster
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	return file
}
