package machine_test

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/machine"
)

// What another process used until it said that it was done is what waiting for it
// says in the end, but for its end.
func TestCPUTimeOfAnotherProcess(t *testing.T) {
	cmd := exec.Command("sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done; read line")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "done\n" {
		t.Errorf("it says %q, %v", line, err)
	}
	now, ok := machine.CPUTime(cmd.Process.Pid)
	if !ok {
		t.Error("the clock of a running process cannot be read")
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
