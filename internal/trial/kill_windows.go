package trial

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/tarebench/tare/internal/machine"
)

const detachedProcess = 0x00000008 // DETACHED_PROCESS: no console

func newGroupAttr(*machine.Cgroup) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup kills a living process and its descendants.
func killGroup(pid int) bool {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run() == nil
}

// killOrphans does nothing. The descendants of an ended process cannot be found, and another process
// may have its number.
func killOrphans(int) bool { return false }

// newSessionAttr starts a process without the console, so that its Ctrl-C does not end the process.
func newSessionAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}

// maxRSS returns 0 for unknown.
func maxRSS(*os.ProcessState) int64 { return 0 }
