package machine

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// makeGroup makes a control group, or skips the test if that is not possible.
func makeGroup(t *testing.T, name string) *Cgroup {
	t.Helper()
	c, err := NewCgroup(fmt.Sprintf("tare-test-%d-%s", os.Getpid(), name))
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		_ = c.Kill()
		_ = c.Remove()
	})
	return c
}

// startInGroup starts a process in the group and returns its pid.
func startInGroup(t *testing.T, c *Cgroup) int {
	t.Helper()
	cmd := testCommand("sleep")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: c.FD()}
	pid := startProcess(t, cmd)
	if pids, err := c.Procs(); err != nil || !slices.Equal(pids, []int{pid}) {
		t.Fatalf("processes %v, %v; want %d", pids, err, pid)
	}
	return pid
}

func wantEmpty(t *testing.T, c *Cgroup) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		pids, err := c.Procs()
		if err == nil && len(pids) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("processes %v, %v after 5 s", pids, err)
		}
	}
}

func TestCgroup(t *testing.T) {
	c := makeGroup(t, "life/..: x") // a name that is none
	startInGroup(t, c)
	if _, ok := c.CPU(); !ok {
		t.Error("no CPU time")
	}
	if c.OutOfMemory() {
		t.Error("out of memory without a limit")
	}
	if err := c.MemoryMax(1 << 30); err != nil && !errors.Is(err, ErrNoController) {
		t.Error(err)
	}
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, c)
	if err := c.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(c.dir); !os.IsNotExist(err) {
		t.Errorf("%s is left", c.dir)
	}
	if err := c.Remove(); err != nil {
		t.Errorf("removed again: %v", err)
	}
}

func TestCgroupMembersEndOneByOne(t *testing.T) {
	c := makeGroup(t, "members")
	pid := startInGroup(t, c)
	outsider := startProcess(t, testCommand("sleep"))
	c.killMember(outsider) // which it is not
	c.killMember(pid)
	wantEmpty(t, c)
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", outsider)); err != nil || strings.Contains(string(b), ") Z") {
		t.Error("a process outside the group was ended")
	}
}

func TestRemoveCgroups(t *testing.T) {
	mine, theirs := makeGroup(t, "run.a"), makeGroup(t, "runner.b")
	startInGroup(t, mine)
	startInGroup(t, theirs)
	RemoveCgroups(fmt.Sprintf("tare-test-%d-run.", os.Getpid()))
	if _, err := os.Stat(mine.dir); !os.IsNotExist(err) {
		t.Errorf("%s is left", mine.dir)
	}
	if pids, err := theirs.Procs(); err != nil || len(pids) != 1 {
		t.Errorf("another run's group has %v, %v", pids, err)
	}
	RemoveCgroups("") // not everything
	if pids, err := theirs.Procs(); err != nil || len(pids) != 1 {
		t.Errorf("another run's group has %v, %v", pids, err)
	}
}
