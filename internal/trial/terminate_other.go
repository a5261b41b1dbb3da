//go:build !unix

package trial

// terminateGroup kills the processes: this system has no signal to end.
func terminateGroup(pid int) { killGroup(pid) }
