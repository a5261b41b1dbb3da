//go:build unix

package trial

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
)

// noneLeft checks that nothing of the trial is alive.
func noneLeft(t *testing.T, s *Session) {
	t.Helper()
	p := s.Conn.(*Process)
	if left := findTagged([]string{EnvTrial + "=" + p.ID()}); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	if alive(p.PID()) {
		t.Errorf("process %d is left", p.PID())
	}
}

// alive asks the kernel, not the code under test.
func alive(pid int) bool {
	if runtime.GOOS == "linux" {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		after := string(b[strings.LastIndexByte(string(b), ')')+1:])
		return err == nil && !strings.HasPrefix(after, " Z") && !strings.HasPrefix(after, " X")
	}
	return syscall.Kill(pid, 0) == nil
}

// A child that made itself a session, and one whose parent is gone besides,
// end with the trial.
func TestChildrenEnd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	for _, grouped := range []bool{true, false} {
		s := greeted(t, "leaves a child", func(s *Spec) { s.Env, s.ungrouped = append(s.Env, envPIDs+"="+pids), !grouped })
		if _, err := s.Slice(t.Context(), wire.Request{On: "w"}, 0); err != nil {
			t.Fatal(err)
		}
		children := numbers(t, pids)
		if len(children) != 2 {
			t.Fatalf("children %v, want two", children)
		}
		inTime := within(t, 10*time.Second, "closing")
		if e := s.Close(t.Context()); !e.KilledGroup {
			t.Error("children were left, and the evidence does not say so")
		}
		inTime()
		for _, pid := range children {
			if alive(pid) {
				t.Errorf("process %d is left", pid)
			}
		}
		noneLeft(t, s)
		_ = os.Remove(pids)
	}
}

// A child that dropped the tags as well is found by the control group.
func TestUntaggedChildEnds(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	s := greeted(t, "leaves a child without tags", func(s *Spec) { s.Env = append(s.Env, envPIDs+"="+pids) })
	if _, err := s.Slice(t.Context(), wire.Request{On: "w"}, 0); err != nil {
		t.Fatal(err)
	}
	children := numbers(t, pids)
	grouped := s.Conn.(*Process).group != nil
	s.Close(t.Context())
	for _, pid := range children {
		if alive(pid) && grouped {
			t.Errorf("process %d is left", pid)
		}
		if !grouped {
			_ = syscall.Kill(pid, syscall.SIGKILL) // ours, and nobody else will find it
		}
	}
	if !grouped {
		t.Skip("no control group can be made here")
	}
}

// numbers reads a file of process numbers; all of them are alive.
func numbers(t *testing.T, file string) []int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, f := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(f)
		if err != nil || !alive(pid) {
			t.Fatalf("process %q: %v, or not alive", f, err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func TestCloseIsBounded(t *testing.T) {
	t.Parallel()
	s := greeted(t, "ignores the end", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	inTime := within(t, 4*time.Second, "closing")
	if e := s.Close(ctx); !e.KilledGroup {
		t.Error("it had to be killed, and the evidence does not say so")
	}
	inTime()
	noneLeft(t, s)
}

func TestCloseWithoutBye(t *testing.T) {
	t.Parallel()
	s := greeted(t, "good", nil)
	if e := s.Conn.Close(t.Context()); e.KilledGroup {
		t.Errorf("it was killed though it would have gone: %+v", e)
	}
	noneLeft(t, s)
}

// What it measured is here already: that it fails at bye changes nothing.
func TestFailureAtTheEnd(t *testing.T) {
	t.Parallel()
	s := greeted(t, "fails at the end", nil)
	_, err := s.Conn.Do(t.Context(), wire.Request{Op: wire.OpBye})
	asClass(t, err, tare.ErrExit, "exit status 7")
	inTime := within(t, 4*time.Second, "closing")
	if e := s.Close(t.Context()); e.KilledGroup || e.Go != runtime.Version() {
		t.Errorf("evidence %+v", e)
	}
	inTime()
	noneLeft(t, s)
}

// A study starts hundreds of processes: none may cost a descriptor or a
// goroutine for good. Not parallel, because it counts this process's own.
func TestNothingLeaks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts in /proc")
	}
	count := func() (files, goroutines int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries), runtime.NumGoroutine()
	}
	greeted(t, "good", nil).Close(t.Context()) // whatever is opened once
	files, goroutines := count()
	for range 5 {
		greeted(t, "good", nil).Close(t.Context())
		s := greeted(t, "garbage", nil)
		_, _ = s.Slice(t.Context(), wire.Request{}, 0)
		s.Close(t.Context())
		_, _ = Start(t.Context(), Spec{Path: "/nonexistent/program"})
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		f, g := count()
		if f <= files && g <= goroutines {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d files and %d goroutines, before %d and %d", f, g, files, goroutines)
		}
	}
}
