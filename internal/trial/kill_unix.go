//go:build unix

package trial

import "syscall"

// killGroup kills a process group and reports whether there was one. pid is the number of the group,
// which must not belong to another group by now.
func killGroup(pid int) bool { return pid > 1 && syscall.Kill(-pid, syscall.SIGKILL) == nil }

// newSessionAttr starts a process in a new session, so that the terminal's Ctrl-C does not end it.
func newSessionAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
