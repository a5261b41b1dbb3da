//go:build unix

package trial

import "syscall"

// terminateGroup sends SIGTERM to a process group. pid is the number of the group, which must not
// belong to another group by now.
func terminateGroup(pid int) {
	if pid > 1 {
		_ = syscall.Kill(-pid, syscall.SIGTERM)
	}
}
