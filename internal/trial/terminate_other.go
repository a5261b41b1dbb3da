//go:build !unix

package trial

// terminateGroup kills: this system has no signal to end.
func terminateGroup(pid int) { killGroup(pid) }
