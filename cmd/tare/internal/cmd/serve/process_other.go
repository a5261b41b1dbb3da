//go:build !unix

package serve

import (
	"os"
	"syscall"
)

// newSession returns nil: a service cannot be sent a signal on this system, and gets the
// console's Ctrl-C like tare.
func newSession() *syscall.SysProcAttr { return nil }

func forwardSignal(*os.Process, os.Signal) {}

func exitCode(s *os.ProcessState) int { return s.ExitCode() }

func notifyHangup() (hung <-chan os.Signal, restore func()) { return nil, func() {} }
