package fleet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
)

// studyPart is a part of a study that one machine measures.
type studyPart struct {
	index   int // from 1
	machine string
	attempt int
	got     []Delivered
	err     error
	done    bool // measured, or without anything to measure
}

// RunParts divides a study among the machines of r: machine i of n measures all rounds of part
// i/n. A machine that has finished its own part repeats the part of a lost one. The results are
// in the order of the parts; a part may be empty.
func (r *StudyRun) RunParts(ctx context.Context) ([]Delivered, error) {
	pieces := make([]*studyPart, len(r.Machines))
	for i, name := range r.Machines {
		pieces[i] = &studyPart{index: i + 1, machine: name}
	}
	for turn := pieces; len(turn) > 0; turn = reassignParts(pieces, r.Say) {
		var all sync.WaitGroup
		for _, p := range turn {
			all.Go(func() { r.runPart(ctx, p) })
		}
		all.Wait()
		if ctx.Err() != nil {
			break
		}
	}
	var out []Delivered
	var failed []error
	for _, p := range pieces {
		out = append(out, p.got...)
		var nothing *NothingError
		if p.err != nil && !errors.As(p.err, &nothing) {
			failed = append(failed, fmt.Errorf("part %d of %d: %w", p.index, len(pieces), p.err))
		}
	}
	if len(out) == 0 && len(failed) == 0 {
		return nil, pieces[0].err
	}
	return out, errors.Join(failed...)
}

// firstPart names the directory of part 1 on machine 1.
const firstPart = "part-1-on-1"

// partDir returns the directory of a part measured on machine.
func (r *StudyRun) partDir(part int, machine string) string {
	return filepath.Join(r.Dir, fmt.Sprintf("part-%d-on-%d", part, slices.Index(r.Machines, machine)+1))
}

// runPart runs p on its machine and stores the results in p.
func (r *StudyRun) runPart(ctx context.Context, p *studyPart) {
	p.attempt++
	one := &StudyRun{
		Hub: r.Hub, Dir: r.partDir(p.index, p.machine), Machines: []string{p.machine}, Share: r.Share,
		Study: r.Study, Say: r.Say, Start: map[string]func(context.Context) error{}, Contents: r.Contents, Read: r.Read,
	}
	if start := r.Start[p.machine]; start != nil {
		one.Start[p.machine] = start
	}
	one.Study.Seed += uint64(p.index - 1)
	one.Study.Flags = append([]string{fmt.Sprintf("--shard=%d/%d", p.index, len(r.Machines))}, r.Study.Flags...)
	p.got, p.err = one.Run(ctx)
	var nothing *NothingError
	p.done = p.err == nil || errors.As(p.err, &nothing)
}

// reassignParts assigns unmeasured parts to machines that have finished theirs, one each, and
// returns these parts. A failed machine gets none.
func reassignParts(pieces []*studyPart, say func(name, line string)) (turn []*studyPart) {
	var free []string
	for _, p := range pieces {
		if p.done && !slices.Contains(free, p.machine) {
			free = append(free, p.machine)
		}
	}
	for _, p := range pieces {
		if p.done || len(free) == 0 || p.attempt >= len(pieces) {
			continue
		}
		was := p.machine
		p.machine, free = free[0], free[1:]
		turn = append(turn, p)
		say("fleet", fmt.Sprintf("%s measures part %d of %d instead of %s", p.machine, p.index, len(pieces), was))
	}
	return turn
}
