//go:build unix

package trial

import "syscall"

// killGroup ends a process group and reports whether there was one. The
// caller knows that the number is still the group's.
func killGroup(pid int) bool {
	return pid > 1 && syscall.Kill(-pid, syscall.SIGKILL) == nil
}

// apart starts a process in a session of its own, out of reach of the
// terminal's signals.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
