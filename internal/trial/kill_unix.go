//go:build unix

package trial

import "syscall"

// killGroup kills a process group and reports whether there was one. The caller must know that the
// number still belongs to the group.
func killGroup(pid int) bool { return pid > 1 && syscall.Kill(-pid, syscall.SIGKILL) == nil }

// newSessionAttr starts a process in a separate session, out of reach of the terminal's signals.
func newSessionAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
