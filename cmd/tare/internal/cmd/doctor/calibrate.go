package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/report"
)

// This file runs tare doctor --calibrate. It measures a program, its copy, and programs that do 2 % and
// 5 % more work. This shows how small a difference this machine can show.

// Ids of the programs in a calibration.
const (
	scaleBase = "base"
	scaleTwin = "twin"  // the base again, as a separate contender
	scale2    = "plus2" // 2 % more work than the base
	scale5    = "plus5" // 5 % more work than the base
)

type scaleWork struct {
	name string // part of the contenders' ids
	noun string // name in sentences
}

func scaleWorks() []scaleWork {
	return []scaleWork{{name: "spin", noun: "arithmetic"}, {name: "alloc", noun: "allocation"}}
}

func calibrationStudy(work scaleWork, budget time.Duration) tare.Study {
	variant := func(id, extra string) tare.Entry {
		return tare.Entry{ID: id, Use: "scale-" + work.name + "-" + extra}
	}
	return tare.Study{
		ID:         "calibration-" + work.name,
		Question:   "Does tare see 2 % and 5 % more " + work.noun + ", and no difference where there is none?",
		Kind:       "codec",
		Baseline:   scaleBase,
		Contenders: []tare.Entry{variant(scaleBase, "0"), variant(scaleTwin, "0"), variant(scale2, "2"), variant(scale5, "5")},
		Workloads:  []tare.Workload{{ID: "units/marshal", Fixture: "devices", N: 1, Op: "marshal", Pool: 1}},
		Metrics:    []string{"time", "cpu"},
		Budget:     tare.Budget{Quick: budget},
	}
}

// runCalibration measures programs of known cost and prints which differences it found. It returns
// an error only if it could not measure.
func runCalibration(ctx context.Context, env cmdenv.Env, o options) error {
	p := session.NewProgress(env, o.quiet)
	defer p.End()
	works := scaleWorks()
	share := o.budget / time.Duration(len(works))
	p.Say("measuring programs of known cost for " + cmdenv.Seconds(o.budget) + ", builds not included")
	env.Lab.Kinds = withoutTests(env.Lab.Kinds)
	run := session.Options{Measuring: lab.Measuring{Quick: true, Isolation: tare.Lockstep}, Catalog: o.catalog}
	return session.With(ctx, env, run, p, func(ctx context.Context, w *session.Session) error {
		c := calibration{Bases: []scaleReading{}, Results: []json.RawMessage{}}
		var failed error // ends the measurement; earlier results are printed
		for _, work := range works {
			study := cmdenv.Study{Study: calibrationStudy(work, share)}
			res, err := w.Measure(ctx, study)
			if res != nil {
				if err := c.addResult(work, res); err != nil {
					return err
				}
			}
			if err != nil {
				failed = session.AddStudyName(study, len(works), err)
				break
			}
			if w.Halt.IsRequested() {
				failed = cmdenv.Code(cmdenv.ExitInterrupted)
				break
			}
		}
		p.Pause()
		if len(c.Bases) == 0 {
			return failed
		}
		c.writeConclusions()
		print := func() error { return c.writeText(env.Out, env.Style(env.Out)) }
		if o.asJSON {
			print = func() error { return cmdenv.PrintJSON(env.Out, c) }
		}
		if err := print(); err != nil {
			return err
		}
		return failed
	})
}

// withoutTests returns kinds without semantics tests, because programs of known cost have no output
// to compare. A struct that embeds the interface lab.Kind has only its methods, and not those of
// lab.Examiner.
func withoutTests(kinds map[string]lab.Kind) map[string]lab.Kind {
	out := map[string]lab.Kind{}
	for name, kind := range kinds {
		out[name] = struct{ lab.Kind }{kind}
		if d, ok := kind.(lab.Describer); ok {
			out[name] = struct {
				lab.Kind
				lab.Describer
			}{kind, d}
		}
	}
	return out
}

func (c *calibration) addResult(work scaleWork, res *tare.Result) error {
	var doc bytes.Buffer
	if err := report.JSON(&doc, res); err != nil {
		return err
	}
	c.Results = append(c.Results, doc.Bytes())
	c.Bases = append(c.Bases, readScale(work, res))
	for _, f := range res.Findings {
		if f.Check == "machine" && f.Severity != tare.Note {
			observation, _, _ := strings.Cut(f.Message, "; ") // without the threshold, which follows
			c.addDisturbance(f.Advice, observation, work)
		}
	}
	return nil
}
