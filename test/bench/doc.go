// Package bench measures how long a change takes from a real API server to
// whoever reads Edsight. Its figures are those that users would see; the
// packages' own benchmarks say where the time goes.
package bench
