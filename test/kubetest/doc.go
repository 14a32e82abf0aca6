// Package kubetest gives tests a Kubernetes cluster: etcd, kube-apiserver and,
// if asked, kube-controller-manager, all real, on loopback ports and a folder
// of the test. There is no kubelet and no scheduler: the test is both, by the
// methods that run, change and end Pods.
//
// All ends with the test. If the test failed, the end of each process's log is
// in the test's.
package kubetest
