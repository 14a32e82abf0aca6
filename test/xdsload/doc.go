// Command xdsload fills a Kubernetes API server with services, pods and
// EndpointSlices, connects many clients of ADS to an xDS server which reads that API
// server, changes things, and measures how long each client waits for each change.
package main
