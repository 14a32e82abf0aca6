//go:build !linux

package server

// lowerPriority does nothing: only Linux has a priority per thread.
func lowerPriority() {}
