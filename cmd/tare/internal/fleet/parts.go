package fleet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
)

// studyPart is some of a study's workloads or benchmarks, for one machine.
type studyPart struct {
	index   int // from 1
	machine string
	attempt int
	got     []Delivered
	err     error
	done    bool // measured, or nothing to measure
}

// RunParts divides a study among the machines. Machine i of n measures part i. Other machines take over the
// parts of those that fail. Results are in the order of the parts; some may be missing.
func (r *StudyRun) RunParts(ctx context.Context) ([]Delivered, error) {
	parts := make([]*studyPart, len(r.Machines))
	for i, name := range r.Machines {
		parts[i] = &studyPart{index: i + 1, machine: name}
	}
	for pending := parts; len(pending) > 0; pending = reassignParts(parts, r.Say) {
		var all sync.WaitGroup
		for _, p := range pending {
			all.Go(func() { r.runPart(ctx, p) })
		}
		all.Wait()
		if ctx.Err() != nil {
			break
		}
	}
	var out []Delivered
	var failed []error
	for _, p := range parts {
		out = append(out, p.got...)
		var nothing *NothingError
		if p.err != nil && !errors.As(p.err, &nothing) {
			failed = append(failed, fmt.Errorf("part %d of %d: %w", p.index, len(parts), p.err))
		}
	}
	if len(out) == 0 && len(failed) == 0 {
		return nil, parts[0].err // there is nothing to measure
	}
	return out, errors.Join(failed...)
}

// firstPart is in every divided run.
const firstPart = "part-1-on-1"

func (r *StudyRun) partDir(part int, machine string) string {
	return filepath.Join(r.Dir, fmt.Sprintf("part-%d-on-%d", part, slices.Index(r.Machines, machine)+1))
}

func (r *StudyRun) runPart(ctx context.Context, p *studyPart) {
	p.attempt++
	run := &StudyRun{
		Hub: r.Hub, Dir: r.partDir(p.index, p.machine), Machines: []string{p.machine}, Share: r.Share,
		Study: r.Study, Say: r.Say, Start: map[string]func(context.Context) error{}, Contents: r.Contents, Read: r.Read,
	}
	if start := r.Start[p.machine]; start != nil {
		run.Start[p.machine] = start
	}
	run.Study.Seed += uint64(p.index - 1)
	run.Study.Flags = append([]string{fmt.Sprintf("--shard=%d/%d", p.index, len(r.Machines))}, r.Study.Flags...)
	p.got, p.err = run.Run(ctx)
	var nothing *NothingError
	p.done = p.err == nil || errors.As(p.err, &nothing)
}

// reassignParts gives each idle machine one part that is not done. It tries a part at most len(parts) times.
func reassignParts(parts []*studyPart, say func(name, line string)) (assigned []*studyPart) {
	var free []string
	for _, p := range parts {
		if p.done && !slices.Contains(free, p.machine) {
			free = append(free, p.machine)
		}
	}
	for _, p := range parts {
		if p.done || len(free) == 0 || p.attempt >= len(parts) {
			continue
		}
		failed := p.machine
		p.machine, free = free[0], free[1:]
		assigned = append(assigned, p)
		say("fleet", fmt.Sprintf("%s measures part %d of %d instead of %s", p.machine, p.index, len(parts), failed))
	}
	return assigned
}
