//go:build unix

package trial

import "syscall"

// terminateGroup requests the end of a process group by SIGTERM. The caller must know that the number
// still belongs to the group.
func terminateGroup(pid int) {
	if pid > 1 {
		_ = syscall.Kill(-pid, syscall.SIGTERM)
	}
}
