package lab

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
)

// checkHeaps returns an error if the live heaps of all contenders are too large for memory, in bytes; 0
// means unknown. In lockstep all processes of a round exist at the same time. Each allocates about
// twice its live heap before it collects.
func (r *run) checkHeaps(memory int64) error {
	const maxShare = 0.8         // share of the machine's memory
	processes := len(r.programs) // they exist at the same time
	if r.opts.Isolation == tare.TrialWise {
		processes = 1
	}
	for _, w := range r.study.Workloads {
		need := 2 * w.Heap * int64(processes)
		if memory > 0 && float64(need) > maxShare*float64(memory) {
			return &StudyError{r.study.ID, fmt.Errorf("workload %q: %d processes with a live heap of %d MB need about %d MB, the machine has %d MB; choose fewer with --contender, or --isolation trial",
				w.ID, processes, w.Heap/1e6, need/1e6, memory/1e6)}
		}
	}
	return nil
}

// checkData returns an error if the data of the workloads is too large for memory, in bytes; 0 means
// unknown. One contender may still store the data of a workload while another prepares the next. So
// each counts with its largest one. The data of one workload must also fit in a single process.
func (r *run) checkData(available int64) error {
	k, ok := r.kind.(Holder)
	if !ok {
		return nil
	}
	perWorkload := map[string]int64{} // bytes of one workload in all contenders that are open at once
	var total int64                   // bytes of the largest workload of each of them
	for _, c := range r.contenders {
		if r.dropped[c.ID] {
			continue
		}
		var largest int64
		for _, w := range r.study.Workloads {
			if c.Role != tare.RoleBaseline && !w.Asks(c.ID) {
				continue
			}
			n := k.Holds(c, r.withSet(c.ID, r.inputs[w.ID]))
			if n > trial.DefaultMemoryLimit {
				return &StudyError{r.study.ID, fmt.Errorf("workload %q: what %s keeps (n: %d) takes about %d MB, and a process may hold %d MB; choose a smaller n",
					w.ID, c.ID, w.N, n/1e6, int64(trial.DefaultMemoryLimit)/1e6)}
			}
			largest = max(largest, n)
			if r.opts.Isolation == tare.TrialWise {
				perWorkload[w.ID] = max(perWorkload[w.ID], n)
			} else {
				perWorkload[w.ID] += n
			}
		}
		if r.opts.Isolation == tare.TrialWise {
			total = max(total, largest)
		} else {
			total += largest
		}
	}
	if available <= 0 || total <= available {
		return nil
	}
	worst := r.study.Workloads[0]
	for _, w := range r.study.Workloads {
		if perWorkload[w.ID] > perWorkload[worst.ID] {
			worst = w
		}
	}
	others := ""
	if total > perWorkload[worst.ID] {
		others = fmt.Sprintf(", %d MB with what others keep of other workloads", total/1e6)
	}
	advice := "--isolation trial, or fewer by --contender or --workload"
	if r.opts.Isolation == tare.TrialWise {
		advice = "fewer by --contender or --workload"
	}
	return &StudyError{r.study.ID, fmt.Errorf("workload %q: what its contenders keep at once (n: %d) takes about %d MB%s, and %d MB of memory are free; choose %s, or a smaller n",
		worst.ID, worst.N, perWorkload[worst.ID]/1e6, others, available/1e6, advice)}
}

// availableMemory returns the available memory in bytes, or 0 if unknown. If the options report
// another machine, it returns all memory of that.
func (r *run) availableMemory() int64 {
	if r.opts.Machine != nil {
		return r.opts.Machine.Memory
	}
	n, _ := machine.Available()
	return n
}
