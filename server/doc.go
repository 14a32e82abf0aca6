// Package server shows the core over HTTP: the pages of the dashboard, the
// debug handlers with istiod's JSON, Edsight's own API, the live feed and the
// metrics.
//
// Every door is a row of one route table, which says who may pass and whether
// it changes anything. A request passes the checks of host, origin and identity
// in that order before it is handled, and one function, authorize, decides for
// all of them. Handlers load the snapshot once, so that an answer is one moment.
package server
