//go:build !unix

package serve

import (
	"os"
	"syscall"
)

// newSession returns nil: tare cannot send a service a signal on this system. The service gets the
// console's Ctrl-C itself.
func newSession() *syscall.SysProcAttr { return nil }

// forwardSignal does nothing: the console has sent Ctrl-C to the service, too.
func forwardSignal(*os.Process, os.Signal) {}

func exitCode(s *os.ProcessState) int { return s.ExitCode() }

// notifyHangup returns a nil channel: this system has no signal for the end of a terminal.
func notifyHangup() (hangups <-chan os.Signal, restore func()) { return nil, func() {} }
