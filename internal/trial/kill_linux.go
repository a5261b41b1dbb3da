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

// newGroupAttr puts a contender into a separate process group and, if there is one, a control
// group.
func newGroupAttr(group *machine.Cgroup) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if group != nil {
		a.UseCgroupFD, a.CgroupFD = true, group.FD()
	}
	return a
}

// awaitExit returns when the process has ended, and leaves it to be waited
// for: waitid(2) with WNOWAIT.
func awaitExit(pid int) bool {
	const idPID = 1
	var info [128]byte // siginfo_t, not looked at
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idPID, uintptr(pid), uintptr(unsafe.Pointer(&info)),
			syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if !errors.Is(errno, syscall.EINTR) {
			return errno == 0
		}
	}
}

// maxRSS returns 0: unknown. The account of a process's end includes the memory of the starting
// process at the fork: /bin/true, started by a process of 200 MiB, is closed with 202.
func maxRSS(*os.ProcessState) int64 { return 0 }

// tagging: what belongs to a run can be found by its tag.
const tagging = true

// killOrphans has nothing to do: on this system the group is ended before its leader is reaped.
func killOrphans(int) bool { return false }

// findTagged lists the living processes that were started with all of tags ("NAME=value") in their
// environment. Only those of the same user can be read; a child with another environment is not
// found.
func findTagged(tags []string) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 1 && pid != os.Getpid() && hasTags(pid, tags) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// hasTags reports whether each tag equals one of the process's variables. A process that has ended
// has none.
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

// killTagged ends the process if it has the tags. It opens the process before it reads it
// (pidfd_open(2)), so that it cannot end a new one with the same number.
func killTagged(pid int, tags []string) {
	if pid <= 1 || pid == os.Getpid() {
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
