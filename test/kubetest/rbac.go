package kubetest

import (
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Allowed asks the API server whether a service account may do something in
// all namespaces. The resource may be "resource/subresource".
func (c *Cluster) Allowed(namespace, account, verb, group, resource string) bool {
	c.t.Helper()
	resource, sub, _ := strings.Cut(resource, "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:   "system:serviceaccount:" + namespace + ":" + account,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: group, Resource: resource, Subresource: sub,
		},
	}}
	answer, err := c.Client.AuthorizationV1().SubjectAccessReviews().Create(c.t.Context(), review, metav1.CreateOptions{})
	c.check(err, "review access to", resource)
	return answer.Status.Allowed
}
