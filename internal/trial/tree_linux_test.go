package trial

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A program that overwrites its environment, as nginx does for its title, has no
// tags any more. Without a control group it and its children are known by their
// process group and by descent.
func TestGuardianEndsWhatOverwroteItsEnvironment(t *testing.T) {
	t.Parallel()
	const run = "test-guardian-renamed"
	file := filepath.Join(t.TempDir(), "pids")
	cmd := self("overwrites its environment")
	cmd.Env = append(cmd.Env, EnvRun+"="+run, envPIDs+"="+file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reaped := make(chan error, 1)
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-reaped })
	_, err = out.Read(make([]byte, 10)) // it is ready
	go func() { reaped <- cmd.Wait() }()
	if err != nil {
		t.Fatal(err)
	}
	pids := append(numbers(t, file), cmd.Process.Pid)
	if len(pids) != 3 {
		t.Fatalf("processes %v, want 3", pids)
	}
	if left := findTagged([]string{EnvRun + "=" + run}); len(left) > 0 {
		t.Fatalf("%v still have their tags", left)
	}
	stranger := self("sleep")
	stranger.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
	other := identifyLeader(stranger.Process.Pid)
	other.start-- // the number was another process's when the guardian was told
	cleanUp(run, map[int]groupLeader{cmd.Process.Pid: identifyLeader(cmd.Process.Pid), stranger.Process.Pid: other}, guardLimit)
	gone(t, pids...)
	if !alive(stranger.Process.Pid) {
		t.Error("a process with the number of an earlier group was ended")
	}
}
