//go:build !unix

package trial

// terminateGroup kills the processes: they cannot be asked to end by themselves.
func terminateGroup(pid int) { killGroup(pid) }
