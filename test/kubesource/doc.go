// Package kubesource holds the tests of core/source/kube against a real API
// server: what it tells, what it keeps while the API server is away, and what it
// says of kinds that are absent or forbidden.
package kubesource
