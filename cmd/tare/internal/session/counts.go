package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/trial"
)

// With --counts, a study also counts instructions under a counter such as Valgrind. That happens after the
// rounds, in separate processes. A contender is a program that the study measures.

// countedKinds run their operations in one process, on one thread.
func countedKinds() []string { return []string{codec.Kind, router.Kind, copier.Kind} }

type studyCount struct {
	w       *Session
	study   tare.Study
	res     *tare.Result
	counter *counts.Counter
	dir     string // directory for inputs and profiles

	inputs map[string]wire.Workload // key is the workload
}

type countedPart struct {
	workload  string
	contender tare.Contender
	program   build.Program
	estimate  counts.Estimate // helps to choose numbers of operations
}

// countInstructions adds counts to the result, if requested, or notes with reasons. dir is the directory of
// the run.
func (w *Session) countInstructions(ctx context.Context, study tare.Study, dir string, res *tare.Result) {
	if w.Options.Counts == counts.Off || w.Halt.IsRequested() {
		return
	}
	c := &studyCount{w: w, study: study, res: res, inputs: map[string]wire.Workload{}}
	var why string
	if c.counter, why = counts.FindCounter(ctx, w.Options.Counts); c.counter == nil {
		c.addNote("", "", cmp.Or(why, "instructions are not counted: it was interrupted"))
		return
	}
	if why := c.whyUncountable(); why != "" {
		c.addNote("", "", "instructions are not counted: "+why)
		return
	}
	var err error
	if c.dir, err = os.MkdirTemp(dir, "counts-"); err == nil {
		defer os.RemoveAll(c.dir)
		err = c.makeInputs()
	}
	if err != nil {
		c.addNote("", "", "instructions are not counted: "+format.Line(err.Error(), 0))
		return
	}
	c.countAll(ctx, c.buildParts(ctx))
}

func (c *studyCount) whyUncountable() string {
	if setting := counts.WhyUncountable(c.w.Options.Env); setting != "" {
		return "the contenders have " + setting + ", and the collector is off while they are"
	}
	if kinds := countedKinds(); !slices.Contains(kinds, string(c.study.Kind)) {
		return "tare counts those of a " + strings.Join(kinds, ", a ") + ", and this is a study of kind " + string(c.study.Kind)
	}
	return ""
}

// addNote adds a finding that instructions were not counted. workload "" means all workloads, and contender ""
// all contenders.
func (c *studyCount) addNote(contender, workload, message string) {
	check := benchstudy.NotCounted()
	c.res.Findings = append(c.res.Findings, tare.Finding{
		Check: check.ID, Severity: check.Severity, Contender: contender, Workload: workload, Message: message, Advice: check.Advice,
	})
}

func (c *studyCount) makeInputs() error {
	kind := c.w.Lab.Kinds[string(c.study.Kind)]
	for _, w := range c.study.Workloads {
		if !slices.ContainsFunc(c.res.Workloads, func(o tare.Workload) bool { return o.ID == w.ID }) {
			continue
		}
		input, err := kind.Input(w, c.study.Dir, c.dir)
		if err != nil {
			return err
		}
		input.Set = w.Set
		c.inputs[w.ID] = input
	}
	return nil
}

// buildParts returns each contender with the workloads on which its time is valid. The control, a second copy
// of the baseline, is not counted.
func (c *studyCount) buildParts(ctx context.Context) (parts []countedPart) {
	for _, contender := range c.res.Contenders {
		i := slices.IndexFunc(c.study.Contenders, func(e tare.Entry) bool { return e.ID == contender.ID })
		if i < 0 || contender.Error != "" || ctx.Err() != nil {
			continue
		}
		var works []tare.Workload
		for _, w := range c.res.Workloads {
			if c.timePerOp(contender.ID, w.ID) > 0 && len(c.res.Voids(contender.ID, w.ID)) == 0 {
				works = append(works, w)
			}
		}
		if len(works) == 0 {
			continue
		}
		program, err := c.buildProgram(ctx, c.study.Contenders[i])
		if err != nil {
			c.addNote(contender.ID, "", "not counted: "+format.Line(err.Error(), 0))
			continue
		}
		for _, w := range works {
			parts = append(parts, countedPart{workload: w.ID, contender: contender, program: program, estimate: counts.Estimate{
				NSPerOp: c.timePerOp(contender.ID, w.ID), BytesPerOp: c.largestSample("bytes", contender.ID, w.ID), Cycle: int64(c.inputs[w.ID].Bodies),
			}})
		}
	}
	return parts
}

func (c *studyCount) buildProgram(ctx context.Context, e tare.Entry) (build.Program, error) {
	if launch := e.Launch(); launch != tare.LaunchProgram {
		return build.Program{}, fmt.Errorf("it is a %s, and not a program that tare builds", launch)
	}
	if tag := c.counter.BuildTag(); tag != "" {
		e.Tags = []string{tag}
		c.w.Progress.Status("count", "building "+e.ID+" for "+c.counter.Name)
	}
	program, err := c.w.Sources.Program(ctx, string(c.study.Kind), c.study.Dir, e)
	if err != nil {
		return program, err
	}
	if why := c.counter.WhyUnsupported(program.Contender.Go); why != "" {
		return program, errors.New("it is " + why)
	}
	return program, nil
}

// timePerOp returns the time of an operation in ns, or 0 if it was not measured.
func (c *studyCount) timePerOp(contender, workload string) float64 {
	return c.largestSample("time", contender, workload)
}

func (c *studyCount) largestSample(metric, contender, workload string) (largest float64) {
	key := tare.MetricFor(metric).Key
	for _, t := range c.res.Trials {
		if t.Contender == contender {
			largest = max(largest, t.Samples[workload][key])
		}
	}
	return largest
}

func (c *studyCount) countAll(ctx context.Context, parts []countedPart) {
	type outcome struct {
		work tare.Work
		err  error
	}
	outcomes := make([]outcome, len(parts))
	indices := make([]int, len(parts))
	for i := range indices {
		indices[i] = i
	}
	var mu sync.Mutex
	done := 0
	counts.Concurrently(indices, func(i int) {
		p := parts[i]
		p.estimate.FewOthers = len(parts) <= benchstudy.FewBenchmarks+1 // 1 for the baseline, which has no row
		counted, err := c.counter.CountSingle(ctx, p.estimate, c.newSide(p))
		mu.Lock()
		defer mu.Unlock()
		done++
		c.w.Progress.Status("count", fmt.Sprintf("counting instructions: %d of %d", done, len(parts)))
		work := tare.Work{Workload: p.workload, Contender: p.contender.ID, Metric: tare.MetricInstructions, Ops: counted.Ops(), PerOp: counts.PerOp(counted.Counts)}
		outcomes[i] = outcome{work, err}
	})
	var counted []tare.Work
	for i, o := range outcomes {
		if o.err != nil {
			c.addNote(parts[i].contender.ID, parts[i].workload, "not counted: "+benchstudy.WhyNotCounted(ctx, o.err))
			continue
		}
		counted = append(counted, o.work)
	}
	c.counter.AddToResult(c.res, counted, counts.CompareWork(counted, c.study.Baseline, counts.Alpha))
}

func (c *studyCount) newSide(p countedPart) counts.Side {
	input := c.inputs[p.workload]
	if len(p.contender.Set) > 0 { // these override the workload's settings
		set := maps.Clone(input.Set)
		if set == nil {
			set = map[string]string{}
		}
		maps.Copy(set, p.contender.Set)
		input.Set = set
	}
	return func(context.Context, int) (counts.Program, error) {
		return counts.Contender{
			Program: p.program, Open: c.w.Lab.Kinds[string(c.study.Kind)].Open, Input: input, Seed: c.res.Seed,
			Spec: trial.Spec{Name: p.contender.ID + "/count", Run: c.w.RunTag, Dir: c.dir, Env: c.w.Options.Env, Guardian: c.w.Guardian},
			Work: c.dir,
		}, nil
	}
}
