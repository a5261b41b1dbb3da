package testtare

import (
	"os/exec"
	"syscall"
)

// Bind has the program that cmd starts interrupted when the test binary ends without
// ending it, because it was killed or its time was over. The Go runtime keeps the thread
// that starts it as long as the test binary lives.
func Bind(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
}
