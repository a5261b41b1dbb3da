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

// killOrphans kills the processes that a process which was just reaped has left in its group, and
// reports whether there were any. While the group has members, its number belongs to no other group.
func killOrphans(pid int) bool { return killGroup(pid) }

// maxRSS returns the peak resident memory of an ended process in bytes, or 0 if it is unknown.
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
