package project

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/load"
)

// Server is a server of the repository under load.
type Server struct {
	ID          string      // its name in a gate
	Program     string      // directory of its main package, relative to the project's, e.g. ./cmd/api
	Args        []string    // of its command line; $PORT is replaced by the port to listen on
	Mix         []string    // METHOD PATH=WEIGHT, as --mix of tare load; one of Mix, Feed and FeedBodies is set
	Feed        string      // file with a request on each line, relative to the project's directory
	FeedBodies  string      // file with the body of a POST to / on each line, relative to the project's directory
	Connections int         // open at the same time
	Rate        float64     // requests per second in an open loop; 0 means a closed loop
	SLO         []Objective // limits of the head; needs a rate
	Place
}

// Objective is an absolute limit of a latency, independent of the base.
type Objective struct {
	Metric string  // p50, p90, p99, p99.9 or max
	Limit  float64 // ns
}

// Place is a position in a tare.yaml, from 1.
type Place struct{ Line, Col int }

const defaultConnections = 10

const loadHint = "e.g. {program: ./cmd/api, args: [-port, $PORT], mix: [GET /items/7=3, GET /health=1]}"

var (
	mixPattern = regexp.MustCompile(`^(?:[A-Za-z]+ )?/\S*=[1-9][0-9]{0,4}$`)
	loadID     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	perSecond  = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?/ ?s$`)
)

// readLoad reads one entry of load. others are the entries before it.
func (r reader) readLoad(n ast.Node, at string, others []Server) (l Server) {
	var rate, slo string
	l.Connections = defaultConnections
	r.Mapping(n, at, loadHint, map[string]yamlfile.Take{
		"id":          r.Shaped(&l.ID, loadID, "is not a name", "letters, digits, . _ and -, e.g. id: api"),
		"program":     r.readPath(&l.Program, "the directory of a main package, from this file's, e.g. program: ./cmd/api"),
		"args":        r.Texts(&l.Args, "words one by one, e.g. args: [-port, $PORT]"),
		"mix":         r.readDistinct(&l.Mix, mixPattern, "is not a request with its weight", "METHOD PATH=WEIGHT, e.g. mix: [GET /items/7=3, GET /health=1]"),
		"feed":        r.readPath(&l.Feed, "a file with a request on each line, from this file's directory, e.g. feed: testdata/requests.ndjson"),
		"feed_bodies": r.readPath(&l.FeedBodies, "a file with the body of a POST to / on each line, from this file's directory, e.g. feed_bodies: testdata/events.ndjson"),
		"connections": r.Count(&l.Connections),
		"rate":        r.readRate(&l.Rate, &rate),
		"slo":         r.Text(&slo, "with a comma between two, e.g. slo: p50<5ms,p99<50ms"),
	}, nil)
	l.Place = r.placeOf(n)
	here := r.Of(n)
	if _, given := r.At(at + ".program"); !given {
		r.Fail(here, "a load without program", loadHint)
	}
	source := ""
	for _, key := range []string{"mix", "feed", "feed_bodies"} {
		where, given := r.At(at + "." + key)
		if given && source != "" {
			r.Fail(where, source+" and "+key+" contradict each other", "give one of them")
		}
		if given {
			source = key
		}
	}
	if source == "" || source == "mix" && len(l.Mix) == 0 {
		r.Fail(here, "a load without requests", loadHint)
	}
	if l.Connections < 1 || l.Connections > tare.MaxConnections {
		where, _ := r.At(at + ".connections")
		r.Fail(where, fmt.Sprintf("%d connections", l.Connections), fmt.Sprintf("1 to %d", tare.MaxConnections))
	}
	if where, given := r.At(at + ".slo"); given && r.Err == nil {
		l.SLO = r.readObjectives(slo, where)
		if l.Rate == 0 {
			r.Fail(where, "slo without rate", "latencies are held to a limit at a rate that does not wait for answers, e.g. rate: 500/s")
		}
		if most := l.Segment(); most > maxSegment {
			r.Fail(where, fmt.Sprintf("at %g requests a second a round of this takes %v", l.Rate, most.Round(time.Second)), fmt.Sprintf("a higher rate, or a lower quantile; at most %v", maxSegment))
		}
	}
	if l.ID == "" {
		l.ID = path.Base(path.Clean(l.Program))
	}
	if r.Err == nil && !loadID.MatchString(l.ID) {
		r.Fail(here, fmt.Sprintf("%q is not a name", l.ID), "give the load one, e.g. id: api")
	}
	if slices.ContainsFunc(others, func(o Server) bool { return o.ID == l.ID }) {
		r.Fail(here, fmt.Sprintf("two loads are called %s", l.ID), "give one of them a name of its own, e.g. id: "+l.ID+"-open")
	}
	return l
}

const (
	minSegment = 2 * time.Second
	maxSegment = time.Minute
	// answersBeyond is the number of responses beyond a quantile in each round: the
	// twenty that a verdict needs, and some for a rate that is not quite reached.
	answersBeyond = 24
)

// Segment returns how long each side is loaded in each round: long enough to measure every
// quantile with a limit. 0 means a closed loop, in alternation.
func (l Server) Segment() time.Duration {
	if l.Rate == 0 {
		return 0
	}
	out := minSegment
	for _, o := range l.SLO {
		percent, err := strconv.ParseFloat(strings.TrimPrefix(o.Metric, "p"), 64)
		if err != nil { // max
			continue
		}
		seconds := min(answersBeyond/(1-percent/100)/l.Rate, 1e6)
		out = max(out, time.Duration(seconds*float64(time.Second)))
	}
	return out.Round(100 * time.Millisecond)
}

// placeOf returns the position of n.
func (r reader) placeOf(n ast.Node) Place {
	at := r.Of(n)
	return Place{at.Line, at.Col}
}

// readPath reads a path below the project's directory.
func (r reader) readPath(into *string, hint string) yamlfile.Take {
	return func(n ast.Node, at string) {
		r.Text(into, hint)(n, at)
		switch {
		case r.Err != nil:
		case strings.TrimSpace(*into) == "":
			r.Fail(r.Of(n), "an empty path", hint)
		case !filepath.IsLocal(filepath.FromSlash(*into)):
			r.Fail(r.Of(n), fmt.Sprintf("%q is outside the project", *into), hint)
		}
	}
}

// readRate reads requests per second, 1500 or 1500/s.
func (r reader) readRate(into *float64, text *string) yamlfile.Take {
	const hint = "requests per second, e.g. 1500 or 1500/s; leave it out for a closed loop"
	return func(n ast.Node, at string) {
		if _, isText := n.(*ast.StringNode); isText {
			r.Shaped(text, perSecond, "is not a rate", hint)(n, at)
			if m := perSecond.FindStringSubmatch(*text); m != nil {
				*into, _ = strconv.ParseFloat(m[1], 64)
			}
		} else {
			r.Number(into)(n, at)
		}
		if r.Err == nil && (!(*into > 0) || *into > load.MaxRate) {
			r.Fail(r.Of(n), fmt.Sprintf("a rate of %g", *into), fmt.Sprintf("above 0, at most %d requests per second", int(load.MaxRate)))
		}
	}
}

// Latencies returns the metrics that can have a limit.
func Latencies() []string {
	var names []string
	for _, m := range tare.Metrics() {
		if m.IsLatency() {
			names = append(names, m.Name)
		}
	}
	return names
}

// readObjectives parses text like --slo of tare load. It accepts only latencies.
func (r reader) readObjectives(text string, at yamlfile.Position) (out []Objective) {
	slo, err := load.ParseSLO(text)
	if err != nil {
		r.Fail(at, err.Error(), "")
		return nil
	}
	for _, o := range slo {
		figure, _, _ := strings.Cut(o.String(), "<")
		switch {
		case o.Errors:
			r.Fail(at, "errors need no limit", "a server that fails is void, and blocks the change")
		case !slices.Contains(Latencies(), figure):
			r.Fail(at, figure+" cannot be held to a limit here", "one of "+strings.Join(Latencies(), ", "))
		}
		out = append(out, Objective{Metric: figure, Limit: o.Limit})
	}
	return out
}
