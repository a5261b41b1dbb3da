package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	kind "github.com/tarebench/tare/kinds/server"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/report"
)

// NullMain serves as the null contender of another tare's comparison and does
// not return, if this process was started as that. A program that runs Main
// calls it first.
func NullMain() {
	if os.Getenv(wire.EnvWire) != "" {
		server.Main(server.Apps{"": server.Null(""), "tiny": server.Null("tiny")})
	}
}

// loadSeveral compares servers as a study that is in no file.
func loadSeveral(ctx context.Context, env cmdenv.Env, o loadOptions, p *session.Progress) error {
	study, err := newComparison(env, o)
	if err != nil {
		return err
	}
	defer os.RemoveAll(study.Dir)
	format := "text"
	if o.asJSON {
		format = "json"
	}
	run := session.Options{Budget: o.duration, Seed: o.seed, NoLock: o.noLock, Quiet: o.quiet}
	run.Format, _ = report.FormatNamed(format)
	alone := env
	alone.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return running{}, nil }
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
func comparing(o loadOptions) string {
	how := "closed loop on " + cmdenv.Plural(o.connections, "connection")
	if o.profile != nil {
		how = "open loop at " + o.profile.String() + " on " + cmdenv.Plural(o.connections, "connection")
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
func newComparison(env cmdenv.Env, o loadOptions) (tare.Study, error) {
	study := tare.Study{
		ID: comparisonID, Question: "How do " + strings.Join(ids(o.servers), " and ") + " compare?", Kinds: []string{kind.Name},
		Baseline: o.servers[0].id, Metrics: []string{"time", "cpu", "client-cpu"}, Budget: tare.Budget{Full: o.duration},
	}
	path := o.servers[0].target.path
	for _, c := range o.servers {
		if c.target.path != path && o.asking.feed == "" && len(o.asking.mix) == 0 {
			return study, cmdenv.Usage(fmt.Sprintf("%s and %s are not the same request", o.servers[0].url, c.url), "servers are compared by the same path; --mix asks for several")
		}
		if c.target.auth != "" {
			return study, cmdenv.Usage("user and password in a URL are for one server", "-H 'Authorization: …' is sent to each")
		}
		e := tare.Entry{ID: c.id, Command: c.command}
		if c.command == nil {
			e.URL = c.target.server()
		}
		study.Contenders = append(study.Contenders, e)
	}
	traffic := &tare.Traffic{Connections: o.connections, Delay: o.delay, Bandwidth: o.bits, TLS: o.servers[0].target.name != ""}
	if o.profile != nil {
		rate, ok := o.profile.(load.Constant)
		if !ok {
			return study, cmdenv.Usage(fmt.Sprintf("--rate %s is for one server", o.rate), "a comparison takes a constant rate, e.g. 5000/s")
		}
		traffic.Rate, traffic.Segment = rate.PerSecond, segment(o.duration, len(o.servers))
		study.Metrics = []string{"p50", "p90", "p99", "cpu", "client-cpu"}
	}
	requests, err := o.asking.requests(o.servers[0].target, env.In)
	if err != nil {
		return study, err
	}
	if study.Dir, err = os.MkdirTemp("", "tare-load-"); err != nil {
		return study, fmt.Errorf("make a directory for the requests: %w", err)
	}
	const file = "requests.ndjson"
	if err := writeRequests(filepath.Join(study.Dir, file), requests); err != nil {
		os.RemoveAll(study.Dir)
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

// writeRequests writes one request a line.
func writeRequests(file string, requests []load.Request) error {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write the requests: %w", err)
	}
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	for _, r := range requests {
		q := wire.HTTPRequest{Method: r.Method, Path: r.Path, Body: r.Body}
		for _, h := range r.Header {
			if q.Header == nil {
				q.Header = map[string]string{}
			}
			if before, again := q.Header[h[0]]; again {
				h[1] = before + ", " + h[1]
			}
			q.Header[h[0]] = h[1]
		}
		if err == nil {
			err = enc.Encode(q)
		}
	}
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err != nil {
		return fmt.Errorf("write the requests: %w", err)
	}
	return nil
}

// running are the sources of a comparison: servers that nobody builds, and
// this very program as the null server.
type running struct{}

var _ lab.Sources = running{}

// Program is what e says, as it is.
func (running) Program(ctx context.Context, name, dir string, e tare.Entry) (build.Program, error) {
	if e.ID == tare.NullID {
		p, err := lab.Self{}.Program(ctx, name, dir, e)
		p.Variant, p.Contender.Variant = "", ""
		p.Contender.Why = "the load generator alone: this program, which answers anything at once"
		return p, err
	}
	c := tare.Contender{
		ID: e.ID, Kind: name, Role: tare.RoleContender, Name: e.ID, Launch: e.Launch(), Command: slices.Clone(e.Command), URL: e.URL, Set: maps.Clone(e.Set),
		Why: "a server of the user's",
	}
	return build.Program{Cached: true, Contender: c}, nil
}
