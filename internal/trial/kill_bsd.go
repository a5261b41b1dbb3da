//go:build unix && !linux

package trial

import (
	"os"
	"runtime"
	"syscall"

	"github.com/tarebench/tare/internal/machine"
)

// attributes put a contender into a process group of its own.
func attributes(*machine.Cgroup) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// killOrphans ends what a process that was just reaped has left in its group
// and reports whether there was anything. A group's number stays taken while
// anything is in it.
func killOrphans(pid int) bool { return killGroup(pid) }

// maxRSS is the most memory a process held, by the account it was closed
// with, in bytes.
func maxRSS(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
