package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	reviewTimeout  = 10 * time.Second
	accountPrefix  = "system:serviceaccount:"
	groupOfMasters = "system:masters"
)

// ErrToken says that a token is not valid.
var ErrToken = errors.New("the token is not valid")

// Reviewer asks the API server whose a bearer token is.
type Reviewer struct {
	client    kubernetes.Interface
	audiences []string
}

// User is who has a token.
type User struct {
	Name string
	// Namespace of a service account, "" for other users.
	Namespace string
	// Admin tells that the user may do everything in the cluster.
	Admin bool
}

// NewReviewer returns a Reviewer of tokens for these audiences; without any, of
// those for the API server itself.
func NewReviewer(cfg *rest.Config, audiences ...string) (*Reviewer, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1 // all proxies may connect at once; the API server's own flow control suffices
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("token reviews: %w", err)
	}
	return &Reviewer{client: client, audiences: audiences}, nil
}

// Review returns who has the token.
func (r *Reviewer) Review(ctx context.Context, token string) (User, error) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: r.audiences}}
	answer, err := r.client.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return User{}, fmt.Errorf("token review: %w", err)
	}
	st := answer.Status
	// An authenticator that knows no audiences names none, and has not checked them.
	if !st.Authenticated || (len(r.audiences) > 0 && !slices.ContainsFunc(st.Audiences, func(a string) bool { return slices.Contains(r.audiences, a) })) {
		return User{}, ErrToken
	}
	u := User{Name: st.User.Username, Admin: slices.Contains(st.User.Groups, groupOfMasters)}
	if account, ok := strings.CutPrefix(u.Name, accountPrefix); ok {
		u.Namespace, _, _ = strings.Cut(account, ":")
	}
	return u, nil
}
