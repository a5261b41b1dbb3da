package build

import (
	"os/exec"
	"strconv"
	"syscall"
)

func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup kills cmd and all processes that it has started.
func killGroup(cmd *exec.Cmd) error {
	tree := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid))
	if tree.Run() != nil {
		return cmd.Process.Kill()
	}
	return nil
}
