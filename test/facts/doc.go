// Package facts has a test for each fact of Istio 1.28.2 that an implementer
// would get wrong. Manifests go in, and what a proxy gets comes out: each test is
// named after the number of its fact and says it in words.
package facts
