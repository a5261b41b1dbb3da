//go:build !unix

package trial

// terminateGroup kills the processes: on this system they cannot be asked to end.
func terminateGroup(pid int) { killGroup(pid) }
