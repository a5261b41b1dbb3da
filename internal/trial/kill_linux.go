package trial

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/tarebench/tare/internal/machine"
)

// This file finds and kills the processes of a contender, a measured program. All of them have
// tags, variables in their environment, such as TARE_RUN=4f6.

// newGroupAttr starts a process in a new process group and, unless group is nil, in a control group.
func newGroupAttr(group *machine.Cgroup) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if group != nil {
		a.UseCgroupFD, a.CgroupFD = true, group.FD()
	}
	return a
}

// awaitExit waits for the end of the process without reaping it: waitid(2) with WNOWAIT. It returns
// false after an error.
func awaitExit(pid int) bool {
	const idPID = 1    // P_PID
	var info [128]byte // siginfo_t, which is not used
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idPID, uintptr(pid), uintptr(unsafe.Pointer(&info)),
			syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if !errors.Is(errno, syscall.EINTR) {
			return errno == 0
		}
	}
}

// maxRSS returns 0 for unknown. The kernel's value is too large: it includes the memory of the parent
// at the fork. For /bin/true, started by a process of 200 MiB, it is 202 MiB.
func maxRSS(*os.ProcessState) int64 { return 0 }

// tagging reports that processes can be found by tags, variables in their environment.
const tagging = true

// killOrphans has nothing to do: awaitEnd kills the group before it reaps the leader.
func killOrphans(int) bool { return false }

// findTagged lists living processes with all of tags ("NAME=value") in their environment. It does not
// find processes of other users.
func findTagged(tags []string) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && mayKill(pid) && hasTags(pid, tags) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func hasTags(pid int, tags []string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || len(env) == 0 || len(tags) == 0 {
		return false
	}
	vars := bytes.Split(env, []byte{0})
	for _, tag := range tags {
		if !slices.ContainsFunc(vars, func(v []byte) bool { return string(v) == tag }) {
			return false
		}
	}
	return true
}

func mayKill(pid int) bool { return pid > 1 && pid != os.Getpid() }

// killTagged kills the process if it has the tags. It opens the process (pidfd_open(2)) before it
// reads the environment. So it cannot kill a later process with the same pid.
func killTagged(pid int, tags []string) {
	if !mayKill(pid) {
		return
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	defer p.Release()
	if hasTags(pid, tags) {
		_ = p.Kill()
	}
}
