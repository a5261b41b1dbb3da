package lab

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
)

// room reports a live heap that all contenders together cannot hold in memory
// (bytes; zero: not known). In lockstep all processes of a round are there at
// once, and each holds its heap about twice over before it collects.
func (r *run) room(memory int64) error {
	const mostly = 0.8 // of the memory
	processes := len(r.programs)
	if r.o.Isolation == tare.TrialWise {
		processes = 1
	}
	for _, w := range r.study.Workloads {
		need := 2 * w.Heap * int64(processes)
		if memory > 0 && float64(need) > mostly*float64(memory) {
			return &StudyError{r.study.ID, fmt.Errorf("workload %q: %d processes with a live heap of %d MB need about %d MB, the machine has %d MB; choose fewer with --contender, or --isolation trial",
				w.ID, processes, w.Heap/1e6, need/1e6, memory/1e6)}
		}
	}
	return nil
}

// holds reports data of the workloads' that the contenders which are open at once
// cannot keep in what memory there is (bytes; zero: not known). The next workload
// is prepared while others still keep the one before, so each counts with the one
// that takes it most. The workload that is named is the one that takes most. Nor
// may one process alone be ended for what it keeps.
func (r *run) holds(available int64) error {
	k, ok := r.kind.(Holder)
	if !ok {
		return nil
	}
	at := map[string]int64{} // of one workload, all contenders that are open at once
	var together int64
	for _, c := range r.contenders {
		if r.dropped[c.ID] {
			continue
		}
		var most int64
		for _, w := range r.study.Workloads {
			if c.Role != tare.RoleBaseline && !w.Asks(c.ID) {
				continue
			}
			n := k.Holds(c, r.configured(c.ID, r.inputs[w.ID]))
			if n > trial.DefaultMemoryLimit {
				return &StudyError{r.study.ID, fmt.Errorf("workload %q: what %s keeps (n: %d) takes about %d MB, and a process may hold %d MB; choose a smaller n",
					w.ID, c.ID, w.N, n/1e6, int64(trial.DefaultMemoryLimit)/1e6)}
			}
			most = max(most, n)
			if r.o.Isolation == tare.TrialWise {
				at[w.ID] = max(at[w.ID], n)
			} else {
				at[w.ID] += n
			}
		}
		if r.o.Isolation == tare.TrialWise {
			together = max(together, most)
		} else {
			together += most
		}
	}
	if available <= 0 || together <= available {
		return nil
	}
	worst := r.study.Workloads[0]
	for _, w := range r.study.Workloads {
		if at[w.ID] > at[worst.ID] {
			worst = w
		}
	}
	others := ""
	if together > at[worst.ID] {
		others = fmt.Sprintf(", %d MB with what others keep of other workloads", together/1e6)
	}
	advice := "--isolation trial, or fewer by --contender or --workload"
	if r.o.Isolation == tare.TrialWise {
		advice = "fewer by --contender or --workload"
	}
	return &StudyError{r.study.ID, fmt.Errorf("workload %q: what its contenders keep at once (n: %d) takes about %d MB%s, and %d MB of memory are free; choose %s, or a smaller n",
		worst.ID, worst.N, at[worst.ID]/1e6, others, available/1e6, advice)}
}

// available is the memory that can be had, in bytes; zero: not known. A machine
// that is reported instead of this one has all of its own.
func (r *run) available() int64 {
	if r.o.Machine != nil {
		return r.o.Machine.Memory
	}
	n, _ := machine.Available()
	return n
}
