package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
)

// writeInputs writes the inputs of all workloads. It omits workloads whose input requires programs
// that are not installed.
func (r *run) writeInputs(study tare.Study) error {
	var available []tare.Workload
	for _, w := range r.study.Workloads {
		input, err := r.kind.Input(w, study.Dir, r.inputDir())
		var missing *NotInstalledError
		if errors.As(err, &missing) {
			r.omitted = append(r.omitted, tare.LeftWorkload(w.ID, missing.Error()))
			continue
		}
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) && filepath.Dir(pathErr.Path) == r.inputDir() {
			return fmt.Errorf("study %s: %w", study.ID, err) // the disk's fault, not the study's
		}
		if err != nil {
			return &StudyError{study.ID, err}
		}
		input.Set = w.Set
		r.inputs[w.ID] = input
		available = append(available, w)
	}
	if len(available) == 0 && len(r.omitted) > 0 {
		last := r.omitted[len(r.omitted)-1]
		return &StudyError{study.ID, fmt.Errorf("%s: %s", last.What, last.Why)}
	}
	r.study.Workloads = available
	return nil
}

// writeProbes writes the inputs of the kind's probes: requests that contenders must reject.
func (r *run) writeProbes() (err error) {
	prober, ok := r.kind.(Prober)
	if !ok {
		return nil
	}
	var inputs []wire.Workload
	for _, w := range r.study.Workloads {
		inputs = append(inputs, r.inputs[w.ID])
	}
	r.probes, err = prober.Probes(r.inputDir(), inputs)
	return err
}

func (r *run) describeWorkloads() error {
	for i, w := range r.study.Workloads {
		input := r.inputs[w.ID]
		w.SHA256, w.Pool = input.SHA256, input.Bodies
		if describer, ok := r.kind.(Describer); ok {
			var err error
			if w, err = describer.Describe(w, input); err != nil {
				return err
			}
		}
		r.study.Workloads[i] = w
	}
	return nil
}

func (r *run) inputDir() string { return filepath.Join(r.opts.Dir, "input") }
