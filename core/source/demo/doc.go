// Package demo is a Source with a mesh of its own, a small shop, which moves by
// itself: rolling updates, a crash loop, scaling to nothing and back, a zone that
// goes away, a Pod that is slow to stop, shifts of traffic.
//
// Pods change as a kubelet changes them, and EndpointSlices are written by the
// reconciler of Kubernetes' own controller. The same seed gives the same
// sequence of changes.
//
// Some things in the shop are broken, and stay so:
//   - billing: its Service port was renamed to http-web; the operator who writes
//     its slices still calls the port http;
//   - catalog: one Pod of v2 carries the label version=v2-hotfix, so that it is
//     in no subset;
//   - reviews: its selector says app=reviews, its Pod app=review;
//   - the ServiceEntry stock of data: resolution NONE, so that its workload
//     selector has no effect.
package demo
