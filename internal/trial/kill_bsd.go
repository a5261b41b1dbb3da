//go:build unix && !linux

package trial

import (
	"os"
	"runtime"
	"syscall"

	"github.com/tarebench/tare/internal/machine"
)

func newGroupAttr(*machine.Cgroup) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// killOrphans kills the processes that a reaped process has left in its group, and reports whether
// there were any. While the group has members, no other group gets its number.
func killOrphans(pid int) bool { return killGroup(pid) }

// maxRSS returns the peak resident memory in bytes, or 0 if unknown. Darwin reports it in bytes, and
// the other systems in KiB.
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
