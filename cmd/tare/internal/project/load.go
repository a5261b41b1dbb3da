package project

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/load"
)

// Server is an entry of load in tare.yaml: a server of the repository that is measured under load. A
// gate compares it before and after a change (base and head).
type Server struct {
	ID      string   // name in the results of a gate
	Program string   // directory of the main package, relative to the project's directory, e.g. ./cmd/api
	Args    []string // $PORT is replaced by the port to listen on

	// One of Mix, Feed and FeedBodies is set. The files are relative to the project's directory.
	Mix        []string // METHOD PATH=WEIGHT, e.g. GET /items/7=3, like --mix of tare load
	Feed       string   // file with one request per line
	FeedBodies string   // file with the body of a POST to / in each line

	Connections int
	Rate        float64     // requests per second, whatever the responses (open loop); 0 means a closed loop
	SLO         []Objective // limits of the head's latencies; they require a rate
	Place                   // position of the entry in tare.yaml
}

// Objective is an absolute limit of a latency, which does not depend on the base.
type Objective struct {
	Metric string  // one of Latencies
	Limit  float64 // ns
}

// Place is a position in a tare.yaml. Lines and columns count from 1.
type Place struct{ Line, Col int }

const defaultConnections = 10

const loadHint = "e.g. {program: ./cmd/api, args: [-port, $PORT], mix: [GET /items/7=3, GET /health=1]}"

var (
	mixPattern = lazyregexp.New(`^(?:[A-Za-z]+ )?/\S*=[1-9][0-9]{0,4}$`) // GET /items/7=3 or /items/7=3
	loadID     = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	perSecond  = lazyregexp.New(`^([0-9]+(?:\.[0-9]+)?) ?/ ?s$`) // 1500/s; the group is the number
)

// readLoad reads an entry at fieldPath, e.g. load[0]. Its id must differ from those of others.
func (r reader) readLoad(n ast.Node, fieldPath string, others []Server) (l Server) {
	var rate, slo string // values of these keys as text
	l.Connections = defaultConnections
	r.Mapping(n, fieldPath, loadHint, map[string]yamlfile.Take{
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
	start := r.Of(n)
	if _, found := r.At(fieldPath + ".program"); !found {
		r.Fail(start, "a load without program", loadHint)
	}
	r.checkRequests(l, start, fieldPath)
	if l.Connections < 1 || l.Connections > tare.MaxConnections {
		pos, _ := r.At(fieldPath + ".connections")
		r.Fail(pos, fmt.Sprintf("%d connections", l.Connections), fmt.Sprintf("1 to %d", tare.MaxConnections))
	}
	if pos, found := r.At(fieldPath + ".slo"); found && r.Err == nil {
		l.SLO = r.readObjectives(slo, pos)
		if l.Rate == 0 {
			r.Fail(pos, "slo without rate", "latencies have a limit only at a rate that does not wait for answers, e.g. rate: 500/s")
		}
		if segment := l.Segment(); segment > maxSegment {
			r.Fail(pos, fmt.Sprintf("at %g requests a second a round of this takes %v", l.Rate, segment.Round(time.Second)), fmt.Sprintf("a higher rate, or a lower quantile; at most %v", maxSegment))
		}
	}
	if l.ID == "" { // default: the name of the program, e.g. api for ./cmd/api
		l.ID = path.Base(path.Clean(l.Program))
	}
	if r.Err == nil && !loadID.MatchString(l.ID) {
		r.Fail(start, fmt.Sprintf("%q is not a name", l.ID), "give the load one, e.g. id: api")
	}
	if slices.ContainsFunc(others, func(o Server) bool { return o.ID == l.ID }) {
		r.Fail(start, fmt.Sprintf("two loads are called %s", l.ID), "give one of them a name of its own, e.g. id: "+l.ID+"-open")
	}
	return l
}

// checkRequests fails unless exactly one of mix, feed and feed_bodies is set.
func (r reader) checkRequests(l Server, start yamlfile.Position, fieldPath string) {
	source := "" // the key that is set
	for _, key := range []string{"mix", "feed", "feed_bodies"} {
		pos, found := r.At(fieldPath + "." + key)
		if found && source != "" {
			r.Fail(pos, source+" and "+key+" contradict each other", "give one of them")
		}
		if found {
			source = key
		}
	}
	isEmptyMix := source == "mix" && len(l.Mix) == 0
	if source == "" || isEmptyMix {
		r.Fail(start, "a load without requests", loadHint)
	}
}

const (
	minSegment = 2 * time.Second
	maxSegment = time.Minute
	// minBeyond is the planned number of responses above a quantile in each round. A verdict needs 20;
	// the other 4 allow for a rate that is not quite reached.
	minBeyond = 24
)

// Segment returns for how long each side (base and head) is loaded in each round: long enough to
// measure each quantile with a limit. It returns 0 for a closed loop, whose sides alternate.
func (l Server) Segment() time.Duration {
	if l.Rate == 0 {
		return 0
	}
	out := minSegment
	for _, o := range l.SLO {
		percent, err := strconv.ParseFloat(strings.TrimPrefix(o.Metric, "p"), 64)
		if err != nil {
			continue // the metric max needs no minimum number of responses
		}
		const longest = 1e6                     // s; far above maxSegment, and a valid time.Duration
		needed := minBeyond / (1 - percent/100) // responses, of which minBeyond are above the quantile
		seconds := min(needed/l.Rate, longest)
		out = max(out, time.Duration(seconds*float64(time.Second)))
	}
	return out.Round(100 * time.Millisecond)
}

func (r reader) placeOf(n ast.Node) Place {
	pos := r.Of(n)
	return Place{pos.Line, pos.Col}
}

func (r reader) readPath(dst *string, hint string) yamlfile.Take {
	return func(n ast.Node, fieldPath string) {
		r.Text(dst, hint)(n, fieldPath)
		switch {
		case r.Err != nil: // r.Text has failed
		case strings.TrimSpace(*dst) == "":
			r.Fail(r.Of(n), "an empty path", hint)
		case !filepath.IsLocal(filepath.FromSlash(*dst)):
			r.Fail(r.Of(n), fmt.Sprintf("%q is outside the project", *dst), hint)
		}
	}
}

// readRate reads requests per second into dst: a number, or a text like 1500/s, which it stores in text.
func (r reader) readRate(dst *float64, text *string) yamlfile.Take {
	const hint = "requests per second, e.g. 1500 or 1500/s; leave it out for a closed loop"
	return func(n ast.Node, fieldPath string) {
		if _, isText := n.(*ast.StringNode); isText {
			r.Shaped(text, perSecond, "is not a rate", hint)(n, fieldPath)
			if m := perSecond.FindStringSubmatch(*text); m != nil {
				*dst, _ = strconv.ParseFloat(m[1], 64) // the pattern allows only numbers
			}
		} else {
			r.Number(dst)(n, fieldPath)
		}
		isInRange := *dst > 0 && *dst <= load.MaxRate // false for NaN
		if r.Err == nil && !isInRange {
			r.Fail(r.Of(n), fmt.Sprintf("a rate of %g", *dst), fmt.Sprintf("above 0, at most %d requests per second", int(load.MaxRate)))
		}
	}
}

// Latencies returns the names of the metrics that can have a limit, e.g. p99.
func Latencies() []string {
	var names []string
	for _, m := range tare.Metrics() {
		if m.IsLatency() {
			names = append(names, m.Name)
		}
	}
	return names
}

// readObjectives parses limits of latencies, e.g. p50<5ms,p99<50ms.
func (r reader) readObjectives(text string, pos yamlfile.Position) (out []Objective) {
	slo, err := load.ParseSLO(text)
	if err != nil {
		r.Fail(pos, err.Error(), "")
		return nil
	}
	for _, o := range slo {
		metric, _, _ := strings.Cut(o.String(), "<") // o.String() is e.g. p99<50ms
		switch {
		case o.Errors:
			r.Fail(pos, "errors need no limit", "a server that fails is void, and blocks the change")
		case !slices.Contains(Latencies(), metric):
			r.Fail(pos, metric+" cannot have a limit", "one of "+strings.Join(Latencies(), ", "))
		}
		out = append(out, Objective{Metric: metric, Limit: o.Limit})
	}
	return out
}
