package server

import "syscall"

// niceness is enough for the kernel to prefer other threads at once, and little
// enough for readers to get a third of a core that another program wants too.
const niceness = 5

// lowerPriority is of the calling thread. Where it is forbidden, the thread of its own
// is what is left.
func lowerPriority() {
	tid := syscall.Gettid()
	if p, err := syscall.Getpriority(syscall.PRIO_PROCESS, tid); err == nil {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, tid, niceOf(p)+niceness)
	}
}

// niceOf is the nice value of a priority as the system call returns it.
func niceOf(priority int) int { return 20 - priority }
