//go:build !unix

package trial

// terminateGroup kills the processes: on this system they cannot get a signal to end.
func terminateGroup(pid int) { killGroup(pid) }
