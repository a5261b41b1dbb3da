package loadcmd

import (
	"bufio"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/load"
)

// worker is a process that has used CPU time and then waits for the end of its input.
type worker struct {
	cmd *exec.Cmd
	in  io.Closer
}

func startWorker(t *testing.T) worker {
	t.Helper()
	cmd := exec.Command("sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done; read line")
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
	w := worker{cmd, in}
	t.Cleanup(func() { w.end() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w worker) end() {
	_ = w.in.Close()
	_ = w.cmd.Wait()
}

// cpuTime returns the CPU time of a worker, which waits.
func (w worker) cpuTime(t *testing.T) time.Duration {
	t.Helper()
	d, ok := machine.CPUTime(w.cmd.Process.Pid)
	if !ok {
		t.Skip("this system does not report the CPU time of other processes")
	}
	return d
}

// TestForkedWorkers: the CPU time of workers that the server forks during a trial counts, also after
// their end. What they used before measuring began does not.
func TestForkedWorkers(t *testing.T) {
	var pids []int
	o := observer{listProcesses: func() []int { return pids }}
	first := startWorker(t)
	first.cpuTime(t)
	pids = append(pids, first.cmd.Process.Pid)
	o.findProcesses()
	warm := startWorker(t) // forked during the warm-up
	pids = append(pids, warm.cmd.Process.Pid)
	o.markPhase(true)
	o.slowWork.Wait()

	forked := startWorker(t)
	used := forked.cpuTime(t)
	pids = append(pids, forked.cmd.Process.Pid)
	o.recordSecond(load.Second{})
	if cpu, memory := o.perSecond(); len(cpu) != 1 || cpu[0] < used || memory[0] == 0 {
		t.Errorf("%v and %v bytes in the second in which a worker used %v", cpu, memory, used)
	}
	pids = pids[:2]
	forked.end()
	late := startWorker(t) // forked after the last second
	used += late.cpuTime(t)
	pids = append(pids, late.cmd.Process.Pid)
	o.markPhase(false)
	if f := o.finalFacts(&load.Result{Threads: 1}); f.ServerCPU < used || f.ServerCPU > used+warm.cpuTime(t)/2 {
		t.Errorf("the server used %v; workers forked meanwhile used %v, and an earlier one %v before", f.ServerCPU, used, warm.cpuTime(t))
	}
}
