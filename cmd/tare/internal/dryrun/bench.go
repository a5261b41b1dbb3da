package dryrun

import (
	"context"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
)

// AddBench adds a comparison of benchmarks: of the revision head against the revision base. If the options
// set neither a time nor a number of rounds, maxTime limits the time; 0 means no limit.
func (p *Plan) AddBench(ctx context.Context, a benchstudy.Request, maxTime time.Duration) error {
	o, err := a.Outline(ctx)
	if err != nil {
		return err
	}
	sides := []string{benchstudy.Base, benchstudy.Head}
	for _, side := range sides {
		p.AddBuild(Build{Name: side, Revision: o.Titles[side], Sources: "go test -c of the packages with benchmarks"})
	}
	s := Study{ID: o.StudyID, Question: o.Titles[benchstudy.Head] + " against " + o.Titles[benchstudy.Base], Contenders: sides, Workloads: o.Benchmarks, Seconds: maxTime.Seconds()}
	if s.Workloads == nil {
		s.Workloads = []string{} // [] in JSON, not null
	}
	if p.options.User || p.options.Until > 0 {
		s.Seconds = p.options.Budget.Seconds()
	}
	isLimit := p.options.User || p.options.Until == 0
	p.AddMeasurement(s, isLimit)
	for _, note := range o.Notes {
		p.AddNote(note)
	}
	return nil
}
