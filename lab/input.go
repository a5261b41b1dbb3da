package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tarebench/tare"
)

// writeInputs writes the inputs of all workloads. It omits those whose input requires programs that
// are not installed.
func (r *run) writeInputs(study tare.Study) error {
	var there []tare.Workload
	for _, w := range r.study.Workloads {
		in, err := r.kind.Input(w, study.Dir, r.inputDir())
		var missing *NotInstalledError
		if errors.As(err, &missing) {
			r.omitted = append(r.omitted, tare.LeftWorkload(w.ID, missing.Error()))
			continue
		}
		if at := (*fs.PathError)(nil); errors.As(err, &at) && filepath.Dir(at.Path) == r.inputDir() {
			return fmt.Errorf("study %s: %w", study.ID, err) // the disk's fault, not the study's
		}
		if err != nil {
			return &StudyError{study.ID, err}
		}
		in.Set = w.Set
		r.inputs[w.ID] = in
		there = append(there, w)
	}
	if len(there) == 0 && len(r.omitted) > 0 {
		last := r.omitted[len(r.omitted)-1]
		return &StudyError{study.ID, fmt.Errorf("%s: %s", last.What, last.Why)}
	}
	r.study.Workloads = there
	return nil
}

// inputDir returns the directory of the contenders' inputs.
func (r *run) inputDir() string { return filepath.Join(r.o.Dir, "input") }
