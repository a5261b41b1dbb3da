package lab

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
)

// checkHeaps returns an error for a live heap that all contenders together cannot have in memory
// (in bytes; 0 means unknown). In lockstep all processes of a round run concurrently, and each
// takes about twice its heap before it collects.
func (r *run) checkHeaps(memory int64) error {
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

// checkData returns an error for workload data that the concurrently open contenders cannot store
// in the available memory (in bytes; 0 means unknown). The next workload is prepared while others
// still store the one before, so each contender counts with its largest. The error names the
// workload that takes most. Nor may a single process be ended for its data.
func (r *run) checkData(available int64) error {
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
			n := k.Holds(c, r.withSet(c.ID, r.inputs[w.ID]))
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

// availableMemory returns the available memory in bytes; 0 means unknown. A machine that is
// reported instead of this one has all of its memory.
func (r *run) availableMemory() int64 {
	if r.o.Machine != nil {
		return r.o.Machine.Memory
	}
	n, _ := machine.Available()
	return n
}
