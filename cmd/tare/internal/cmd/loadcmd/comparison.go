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

// loadSeveral compares the servers of tare load. It generates a study with one contender per server
// and measures it.
func loadSeveral(ctx context.Context, env cmdenv.Env, o options, p *session.Progress) error {
	dir, remove, err := machine.TempDir("load")
	if err != nil {
		return fmt.Errorf("make a directory for the requests: %w", err)
	}
	defer remove()
	var toolchains []string // Go releases of --go; nil without --go
	if o.releases.IsSet() {
		if toolchains, err = o.releases.Resolve(ctx, env); err != nil {
			return err
		}
		for i := range o.servers {
			o.servers[i].id = toolchains[i]
		}
	}
	study, err := newComparison(o, dir)
	if err != nil {
		return err
	}
	run := session.Options{Measuring: lab.Measuring{Budget: o.duration, Seed: o.seed}, NoLock: o.noLock, Quiet: o.quiet}
	run.Format = o.resultFormat()
	studyEnv := env
	studyEnv.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return loadstudy.Servers{}, nil }
	p.Say("comparing " + strings.Join(serverIDs(o.servers), ", ") + ": " + describeComparison(o))

	err = session.With(ctx, studyEnv, run, p, func(ctx context.Context, w *session.Session) error {
		if toolchains != nil {
			commands, err := o.program.buildReleases(ctx, w, toolchains, dir)
			if err != nil {
				return err
			}
			for i := range commands {
				study.Contenders[i].Command = commands[i]
			}
		}
		err := w.MeasureAll(ctx, []cmdenv.Study{{Study: study}}, p.Fail)
		const single = true
		if errFinish := w.Finish(&cmdenv.Output{}, single); err == nil {
			err = errFinish
		}
		return err
	})
	if err != nil {
		return err
	}
	return p.Outcome()
}

func (o options) resultFormat() report.Format {
	name := "text"
	if o.asJSON {
		name = "json"
	}
	f, _ := report.FormatNamed(name) // both names exist
	return f
}

func serverIDs(servers []loadServer) []string {
	var ids []string
	for _, s := range servers {
		ids = append(ids, s.id)
	}
	return ids
}

func describeComparison(o options) string {
	loadText := "closed loop on " + format.Count(o.connections, "connection")
	if o.profile != nil {
		loadText = "open loop at " + o.profile.String() + " on " + format.Count(o.connections, "connection")
	}
	return loadText + ", about " + cmdenv.Seconds(o.duration)
}

const comparisonID = "load"

// newComparison returns a study of the servers, the first of which is the baseline. It writes the
// requests to a file in dir.
func newComparison(o options, dir string) (tare.Study, error) {
	first := o.servers[0]
	study := tare.Study{
		ID: comparisonID, Question: "How do " + strings.Join(serverIDs(o.servers), " and ") + " compare?", Kind: kind.Name,
		Baseline: first.id, Metrics: []string{"time", "cpu", "client-cpu"}, Budget: tare.Budget{Full: o.duration},
	}
	usesPath := o.source.Feed == "" && len(o.source.Mix) == 0 // requests of --feed and --mix have their own paths
	for _, c := range o.servers {
		if usesPath && c.target.Path != first.target.Path {
			return study, cmdenv.Usage(fmt.Sprintf("%s and %s are not the same request", first.url, c.url), "servers are compared by the same path; --mix requests several")
		}
		if c.target.Auth != "" {
			return study, cmdenv.Usage("user and password in a URL are for one server", "-H 'Authorization: …' is sent to each")
		}
		contender := tare.Entry{ID: c.id, Command: c.command}
		if c.command == nil {
			contender.URL = c.target.Server()
		}
		study.Contenders = append(study.Contenders, contender)
	}
	traffic := &tare.Traffic{Connections: o.connections, Delay: o.delay, Bandwidth: o.bitsPerSecond, TLS: first.target.Name != ""}
	if o.profile != nil {
		rate, ok := o.profile.(load.Constant)
		if !ok {
			return study, cmdenv.Usage(fmt.Sprintf("--rate %s is for one server", o.rate), "a comparison takes a constant rate, e.g. 5000/s")
		}
		traffic.Rate = rate.PerSecond
		traffic.Segment = segmentLength(o.duration, len(o.servers))
		study.Metrics = []string{"p50", "p90", "p99", "cpu", "client-cpu"}
	}
	study.Dir = dir // the file of the workload is relative to it
	const file = "requests.ndjson"
	if err := loadstudy.WriteRequests(filepath.Join(study.Dir, file), o.feed.Requests); err != nil {
		return study, err
	}
	study.Workloads = []tare.Workload{{ID: "requests", File: file, Op: kind.OpRequests, Traffic: traffic}}
	return study, nil
}

const wantedRounds = 12

// segmentLength returns for how long a round of an open loop loads each server, 1 s to 10 s. It
// divides the budget by wantedRounds and by the servers. tare adds two servers: the first again,
// which shows the noise, and one that does nothing.
func segmentLength(budget time.Duration, servers int) time.Duration {
	segment := budget / time.Duration(wantedRounds*(servers+2))
	return min(max(segment.Round(100*time.Millisecond), time.Second), 10*time.Second)
}
