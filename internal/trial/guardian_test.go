//go:build unix

package trial

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/machine"
)

// playTare is a tare in the middle of a run: a guardian, a contender with
// children, and something like a build. It says what it has started and waits
// for a line, which it never gets if it is killed.
func playTare() int {
	run := os.Getenv("TARE_TEST_RUN")
	g, err := StartGuardian(os.Args[0], run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p, err := Start(context.Background(), Spec{
		Path: os.Args[0], Run: run, Guardian: g,
		Env: []string{quick, envPart + "=leaves a child", envPIDs + "=" + os.Getenv(envPIDs)},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s := &Session{Conn: p}
	_, err = s.Hello(context.Background(), "", "1")
	if err == nil {
		_, err = s.Slice(context.Background(), wire.Request{On: "w"}, 0)
	}
	build := self("sleep")
	build.Env = append(build.Env, EnvRun+"="+run)
	build.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err == nil {
		err = build.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(g.cmd.Process.Pid, p.PID(), build.Process.Pid)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	_ = build.Process.Kill()
	_ = build.Wait()
	s.Close(context.Background())
	if err := g.Done(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// aTare starts one and returns the numbers of its guardian and of all
// processes that belong to the run.
func aTare(t *testing.T, run string) (cmd *exec.Cmd, stdin io.WriteCloser, guardian int, pids []int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pids")
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), quick, envPart+"=tare", "TARE_TEST_RUN="+run, envPIDs+"="+file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell's job
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields(line) {
		pid, err := strconv.Atoi(f)
		if err != nil || !alive(pid) {
			t.Fatalf("process %q: %v, or not alive", f, err)
		}
		pids = append(pids, pid)
	}
	return cmd, stdin, pids[0], append(pids[1:], numbers(t, file)...)
}

// gone waits until none of pids is alive, at most 5 s.
func gone(t *testing.T, pids ...int) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := 0
		for _, pid := range pids {
			if alive(pid) {
				left = pid
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("process %d is left after 5 s", left)
			return
		}
	}
}

func TestGuardianEndsWhatAKilledTareLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	t.Parallel()
	const run = "test-guardian-killed"
	cmd, _, guardian, pids := aTare(t, run)
	if len(pids) != 4 { // contender, two children of its, build
		t.Fatalf("processes %v, want 4", pids)
	}
	other, _, otherGuardian, others := aTare(t, run+"-other")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	gone(t, append(pids, guardian)...)
	if left := findTagged([]string{EnvRun + "=" + run}); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	if groups := ownChildGroups(groupPrefix(run)); len(groups) > 0 {
		t.Errorf("control groups %v are left", groups)
	}
	// A run whose tag only begins the same is none of its business.
	for _, pid := range append(others, otherGuardian, other.Process.Pid) {
		if !alive(pid) {
			t.Errorf("process %d of another run was ended", pid)
		}
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	gone(t, append(others, otherGuardian)...)
}

func TestGuardianGoesHome(t *testing.T) {
	t.Parallel()
	cmd, stdin, guardian, pids := aTare(t, "test-guardian-home")
	// What a terminal sends to a job does not reach it, and what is sent to it
	// does not end it.
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if err := syscall.Kill(guardian, sig); err != nil {
			t.Fatal(err)
		}
	}
	if pgid, err := syscall.Getpgid(guardian); err != nil || pgid == cmd.Process.Pid {
		t.Errorf("the guardian is in group %d, that of tare: %v", pgid, err)
	}
	if !alive(guardian) {
		t.Error("a signal ended the guardian")
	}
	_, _ = stdin.Write([]byte("\n"))
	inTime := within(t, 5*time.Second, "going home")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	inTime()
	gone(t, append(pids, guardian)...)
}

func TestGuardianListens(t *testing.T) {
	groups, done := readOrders(strings.NewReader("group 10 5 1\ngroup 11 7 2\nwhat\ngone 10\n"))
	if done || len(groups) != 1 || groups[11] != (groupLeader{7, 2}) {
		t.Errorf("groups %v, done %v", groups, done)
	}
	if _, done := readOrders(strings.NewReader("group 10\ndone\n")); !done {
		t.Error("it did not hear that tare was done")
	}
	for _, run := range []string{"", "a\nb"} {
		if _, err := StartGuardian(os.Args[0], run); err == nil {
			t.Errorf("a guardian for the run %q", run)
		}
	}
	if _, err := StartGuardian("/bin/echo", "a"); err == nil || !strings.Contains(err.Error(), "did not become one") {
		t.Errorf("a guardian that is none: %v", err)
	}
	var nobody *Guardian
	nobody.Group(1) // no harm
	if err := nobody.Done(); err != nil {
		t.Error(err)
	}
}

// ownChildGroups lists control groups by the pattern of their names.
func ownChildGroups(pattern string) []string {
	probe, err := machine.NewCgroup("tare-test-probe-" + strconv.Itoa(os.Getpid()))
	if err != nil {
		return nil
	}
	dir, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", probe.FD()))
	_ = probe.Remove()
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), pattern+"*"))
	return found
}
