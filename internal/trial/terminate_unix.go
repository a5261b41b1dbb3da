//go:build unix

package trial

import "syscall"

// terminateGroup sends SIGTERM to a process group. pid must still be the number of the group.
func terminateGroup(pid int) {
	if pid > 1 {
		_ = syscall.Kill(-pid, syscall.SIGTERM)
	}
}
