//go:build unix

package trial

import "syscall"

// killGroup kills a process group and reports whether there was one. pid must still be the number of the
// group.
func killGroup(pid int) bool { return pid > 1 && syscall.Kill(-pid, syscall.SIGKILL) == nil }

// newSessionAttr protects from the terminal's signals.
func newSessionAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
