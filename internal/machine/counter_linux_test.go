package machine

import (
	"os/exec"
	"testing"
)

// A counter of the program that is started counts that program, and nothing that the
// thread does: tried with the clock of a task, which needs no hardware.
func TestCountProgram(t *testing.T) {
	loop := exec.Command("sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
	read, err := countProgram(softwareEvent, taskClockEvent, loop.Start)
	if err != nil {
		t.Skipf("no counter of software events: %v", err)
	}
	for range 1 << 24 { // of the test's own thread
	}
	if err := loop.Wait(); err != nil {
		t.Fatal(err)
	}
	ns, err := read()
	used := loop.ProcessState.UserTime() + loop.ProcessState.SystemTime()
	if err != nil || ns == 0 || float64(ns) > 2*float64(used)+1e7 {
		t.Errorf("%d ns, %v; the program used %v", ns, err, used)
	}
}

func TestCountOfNothing(t *testing.T) {
	missing := exec.Command("/nowhere/to/be/found")
	if _, err := countProgram(softwareEvent, taskClockEvent, missing.Start); err == nil {
		t.Error("a program that cannot be started is counted")
	}
}
