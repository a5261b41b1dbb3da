package machine_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/tarebench/tare/machine"
)

// What another process used is what waiting for it says in the end.
func TestCPUTimeOfAnotherProcess(t *testing.T) {
	cmd := exec.Command("sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; read line")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	var before, now time.Duration
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var ok bool
		if now, ok = machine.CPUTime(cmd.Process.Pid); !ok {
			t.Fatal("the clock of a running process cannot be read")
		}
		if now > 0 && now == before { // it waits for its line
			break
		}
		before = now
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // read fails at the end of its input
	if total := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); now < total/2 || now > total+50*time.Millisecond {
		t.Errorf("read %v while it ran, %v in the end", now, total)
	}
	if _, ok := machine.CPUTime(cmd.Process.Pid); ok && cmd.Process.Pid != os.Getpid() {
		t.Error("a process that has ended still has a clock")
	}
	if _, ok := machine.CPUTime(0); ok {
		t.Error("process 0 has a clock")
	}
}
