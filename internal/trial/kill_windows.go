package trial

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/tarebench/tare/internal/machine"
)

const detachedProcess = 0x00000008 // DETACHED_PROCESS: no console

// newGroupAttr protects a contender from the console's Ctrl-C.
func newGroupAttr(*machine.Cgroup) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup kills a living process and its descendants.
func killGroup(pid int) bool {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run() == nil
}

// killOrphans does nothing: after the end of a process, its descendants cannot be found, and its
// number may belong to another process.
func killOrphans(int) bool { return false }

// newSessionAttr starts a process without the console, out of reach of its Ctrl-C.
func newSessionAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}

// maxRSS returns 0 for unknown.
func maxRSS(*os.ProcessState) int64 { return 0 }
