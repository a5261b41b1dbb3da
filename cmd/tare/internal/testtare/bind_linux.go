package testtare

import (
	"os/exec"
	"syscall"
)

// Bind makes the kernel send SIGTERM to the program that cmd starts if the test binary ends first,
// because it was killed or ran out of time. The signal depends on the thread that starts the program;
// the Go runtime keeps this thread as long as the test binary lives.
func Bind(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
}
