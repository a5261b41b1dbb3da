package loadcmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
	kind "github.com/tarebench/tare/kinds/server"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/report"
)

// loadSeveral compares servers as a study that is in no file.
func loadSeveral(ctx context.Context, env cmdenv.Env, o options, p *session.Progress) error {
	dir, remove, err := machine.TempDir("load")
	if err != nil {
		return fmt.Errorf("make a directory for the requests: %w", err)
	}
	defer remove()
	study, err := newComparison(o, dir)
	if err != nil {
		return err
	}
	format := "text"
	if o.asJSON {
		format = "json"
	}
	run := session.Options{Measuring: lab.Measuring{Budget: o.duration, Seed: o.seed}, NoLock: o.noLock, Quiet: o.quiet}
	run.Format, _ = report.FormatNamed(format)
	alone := env
	alone.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return loadstudy.Servers{}, nil }
	p.Say("comparing " + strings.Join(ids(o.servers), ", ") + ": " + comparing(o))

	exit := cmdenv.ExitOK
	fail := func(err error) {
		exit = cmdenv.Worst(exit, cmdenv.ExitCode(err))
		p.Fail(err)
	}
	err = session.With(ctx, alone, run, p, func(ctx context.Context, w *session.Session) error {
		err := w.WeighAll(ctx, []cmdenv.Study{{Study: study}}, fail)
		if errEnd := w.Finish(&cmdenv.Output{}, true); err == nil {
			err = errEnd
		}
		return err
	})
	if err != nil {
		return err
	}
	return cmdenv.Code(exit)
}

func ids(list []loadServer) []string {
	var names []string
	for _, s := range list {
		names = append(names, s.id)
	}
	return names
}

// comparing says how requests are sent in a comparison.
func comparing(o options) string {
	how := "closed loop on " + format.Count(o.connections, "connection")
	if o.profile != nil {
		how = "open loop at " + o.profile.String() + " on " + format.Count(o.connections, "connection")
	}
	return how + ", about " + cmdenv.Seconds(o.duration)
}

// comparisonID names the study of a comparison; its results are kept below it.
const comparisonID = "load"

// roundsWanted is how many rounds a comparison should have within its budget.
const roundsWanted = 12

// newComparison is the study: one contender for each server, the first one the
// baseline, and one workload, whose requests are in a file of the study's
// directory.
func newComparison(o options, dir string) (tare.Study, error) {
	study := tare.Study{
		ID: comparisonID, Question: "How do " + strings.Join(ids(o.servers), " and ") + " compare?", Kind: kind.Name,
		Baseline: o.servers[0].id, Metrics: []string{"time", "cpu", "client-cpu"}, Budget: tare.Budget{Full: o.duration},
	}
	path := o.servers[0].target.Path
	for _, c := range o.servers {
		if c.target.Path != path && o.asking.Feed == "" && len(o.asking.Mix) == 0 {
			return study, cmdenv.Usage(fmt.Sprintf("%s and %s are not the same request", o.servers[0].url, c.url), "servers are compared by the same path; --mix asks for several")
		}
		if c.target.Auth != "" {
			return study, cmdenv.Usage("user and password in a URL are for one server", "-H 'Authorization: …' is sent to each")
		}
		e := tare.Entry{ID: c.id, Command: c.command}
		if c.command == nil {
			e.URL = c.target.Server()
		}
		study.Contenders = append(study.Contenders, e)
	}
	traffic := &tare.Traffic{Connections: o.connections, Delay: o.delay, Bandwidth: o.bits, TLS: o.servers[0].target.Name != ""}
	if o.profile != nil {
		rate, ok := o.profile.(load.Constant)
		if !ok {
			return study, cmdenv.Usage(fmt.Sprintf("--rate %s is for one server", o.rate), "a comparison takes a constant rate, e.g. 5000/s")
		}
		traffic.Rate, traffic.Segment = rate.PerSecond, segment(o.duration, len(o.servers))
		study.Metrics = []string{"p50", "p90", "p99", "cpu", "client-cpu"}
	}
	study.Dir = dir
	const file = "requests.ndjson"
	if err := loadstudy.WriteRequests(filepath.Join(study.Dir, file), o.feed.Requests); err != nil {
		return study, err
	}
	study.Workloads = []tare.Workload{{ID: "requests", File: file, Op: kind.OpRequests, Traffic: traffic}}
	return study, nil
}

// segment is how long each contender is loaded in a round of an open loop: as
// long as lets the rounds wanted of all of them, the control and the null
// server among them, fit into the budget, and from 1 s to 10 s.
func segment(budget time.Duration, servers int) time.Duration {
	each := budget / time.Duration(roundsWanted*(servers+2))
	return min(max(each.Round(100*time.Millisecond), time.Second), 10*time.Second)
}

var _ lab.Sources = loadstudy.Servers{}
