package kube

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// maxKubeconfig bounds what is read of one kubeconfig; a Secret cannot be larger.
const maxKubeconfig = 1 << 20

// errNoKubeconfig says no more, as what the parser quotes may be a credential.
var errNoKubeconfig = errors.New("is no kubeconfig")

// parseKubeconfig reads a kubeconfig which somebody else wrote: one that would
// have a program started or a file read is refused.
func parseKubeconfig(content []byte) (*rest.Config, error) {
	if len(content) > maxKubeconfig {
		return nil, fmt.Errorf("has %d bytes, more than the %d that are read", len(content), maxKubeconfig)
	}
	file, err := clientcmd.Load(content)
	if err != nil {
		return nil, errNoKubeconfig
	}
	for _, name := range slices.Sorted(maps.Keys(file.AuthInfos)) {
		if field := reachesOut(file.AuthInfos[name]); field != "" {
			return nil, fmt.Errorf("user %q has %s, which is refused: it would start a program or read a file here", name, field)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(file.Clusters)) {
		if file.Clusters[name].CertificateAuthority != "" {
			return nil, fmt.Errorf("cluster %q has certificate-authority, which is refused: it would read a file here", name)
		}
	}
	cfg, err := clientcmd.NewNonInteractiveClientConfig(*file, file.CurrentContext, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot be used: %w", err)
	}
	return cfg, nil
}

// reachesOut names the field by which a user's credentials would come from a
// program or a file of this machine; "" if there is none.
func reachesOut(user *clientcmdapi.AuthInfo) string {
	switch {
	case user.Exec != nil:
		return "exec"
	case user.AuthProvider != nil:
		return "auth-provider"
	case user.TokenFile != "":
		return "tokenFile"
	case user.ClientCertificate != "":
		return "client-certificate"
	case user.ClientKey != "":
		return "client-key"
	}
	return ""
}
