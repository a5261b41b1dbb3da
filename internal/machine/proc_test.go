package machine

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// The test binary is every other process these tests need: it does what this
// variable says.
const envDo = "TARE_TEST_DO"

func TestMain(m *testing.M) {
	switch os.Getenv(envDo) {
	case "sleep":
		time.Sleep(time.Hour) // an empty select alone is a deadlock, which ends it
	case "lock": // and hold it until killed
		_, err := Lock(context.Background(), os.Getenv("TARE_TEST_LOCK"), nil)
		exitOn(err)
		os.Stdout.WriteString("locked\n")
		time.Sleep(time.Hour)
	case "lock host":
		_, err := LockHost(context.Background(), os.Getenv("TARE_TEST_LOCK"), nil)
		exitOn(err)
		os.Stdout.WriteString("locked\n")
		time.Sleep(time.Hour)
	case "take turns":
		exitOn(takeTurns())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func exitOn(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

// testCommand returns a command that runs the test binary as a helper process.
func testCommand(do string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), envDo+"="+do), env...)
	return cmd
}

// startProcess starts cmd, ends it after the test, and returns its pid.
func startProcess(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only on linux")
	}
}

// absent is a process number that the kernel never gives out.
const absent = 1 << 30

func TestOwnProcess(t *testing.T) {
	onLinux(t)
	held := make([]byte, 32<<20)
	for i := range held {
		held[i] = 1
	}
	self := os.Getpid()
	now, ok := Resident(self)
	peak, peakOK := PeakResident(self)
	if !ok || !peakOK || now < int64(len(held)) || peak < int64(len(held)) {
		t.Errorf("holds %d (%v), at most %d (%v), with %d in one slice", now, ok, peak, peakOK, len(held))
	}
	runtime.KeepAlive(held)
	if Allowed(self) == "" {
		t.Error("no processor allowed")
	}
	if _, ok := RunQueueWait(self); !ok {
		t.Error("no run-queue wait")
	}
}

func TestRunQueueWaitGrowsUnderLoad(t *testing.T) {
	onLinux(t)
	before, _ := RunQueueWait(os.Getpid())
	var stop atomic.Bool
	for range 4 * runtime.NumCPU() {
		go func() {
			runtime.LockOSThread() // so that there are more threads than processors
			for !stop.Load() {
			}
		}()
	}
	defer stop.Store(true)
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if after, _ := RunQueueWait(os.Getpid()); after > before {
			return
		}
	}
	t.Error("the wait did not grow")
}

func TestAbsentProcess(t *testing.T) {
	if _, ok := Resident(absent); ok {
		t.Error("it holds memory")
	}
	if _, ok := PeakResident(absent); ok {
		t.Error("it held memory")
	}
	if _, ok := RunQueueWait(absent); ok {
		t.Error("it waits")
	}
	if a := Allowed(absent); a != "" {
		t.Errorf("it may use %s", a)
	}
	if c, ok := Children(absent); ok || len(c) > 0 {
		t.Errorf("it has children %v", c)
	}
}

func TestChildren(t *testing.T) {
	onLinux(t)
	if _, ok := Children(os.Getpid()); !ok {
		t.Skip("this kernel keeps no list")
	}
	pid := startProcess(t, testCommand("sleep"))
	if children, _ := Children(os.Getpid()); !slices.Contains(children, pid) {
		t.Errorf("children %v, without %d", children, pid)
	}
}
