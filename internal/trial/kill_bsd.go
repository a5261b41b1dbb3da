//go:build unix && !linux

package trial

import (
	"os"
	"runtime"
	"syscall"

	"github.com/tarebench/tare/internal/machine"
)

// newGroupAttr puts a contender into a separate process group.
func newGroupAttr(*machine.Cgroup) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// killOrphans ends what a process that was just reaped has left in its group
// and reports whether there was anything. A group's number stays taken while
// anything is in it.
func killOrphans(pid int) bool { return killGroup(pid) }

// maxRSS returns the peak memory of a process in bytes, by the account of its end.
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
