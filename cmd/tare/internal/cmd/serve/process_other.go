//go:build !unix

package serve

import (
	"os"
	"syscall"
)

// outOfReach changes nothing: a service cannot be sent a signal here, and gets
// the console's Ctrl-C as tare does.
func outOfReach() *syscall.SysProcAttr { return nil }

func handOn(*os.Process, os.Signal) {}

func exitCode(s *os.ProcessState) int { return s.ExitCode() }

func hangUps() (hung <-chan os.Signal, restore func()) { return nil, func() {} }
