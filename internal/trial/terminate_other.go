//go:build !unix

package trial

// terminateGroup kills the processes, because this system has no signal that asks them to end.
func terminateGroup(pid int) { killGroup(pid) }
