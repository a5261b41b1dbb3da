package report

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// kindCodec is the kind that asks codecs, kindRouter the one that asks routers,
// and requestKinds are those of which
// an operation is one HTTP request.
const (
	kindCodec  = "codec"
	kindRouter = "router"
)

func requestKinds() []tare.Kind { return []tare.Kind{kindRouter, "server", "rpc"} }

// byRequest reports whether an operation of the workload is one request.
func byRequest(r *tare.Result, w tare.Workload) bool {
	return w.Traffic != nil || slices.Contains(requestKinds(), r.Kind)
}

// asked says in words what the workload is.
func asked(r *tare.Result, w tare.Workload) string {
	one, many := "body", "bodies"
	if byRequest(r, w) {
		one, many = "request", "requests"
	}
	routed := w.Traffic == nil && r.Kind == kindRouter
	text := "What is asked: " + doing(r, w)
	if routed {
		text += map[string]string{"serve": " (in process, without a socket)", "socket": " (over one connection that is kept open, on loopback)"}[w.Op]
	}
	switch {
	case w.N > 0 && routed:
		text += ", " + plural(w.N, "route") + " in the table"
	case w.N > 0:
		c := w.Counted()
		text += ", " + plural(w.N, c.One)
		if c.In != "" {
			text += " in " + c.In
		} else {
			text += " per " + one
		}
		if c.Most {
			text += " at most"
		}
	}
	switch {
	case w.Pool == 1:
		text += ", one " + one + " over and over"
	case w.Pool > 1:
		text += ", " + format.Grouped(float64(w.Pool), 0) + " different " + many + " in turn"
	}
	if set := chosen(without(w.Set, driver)); set != "" {
		text += ", with " + set
	}
	if w.Heap > 0 {
		text += ", while " + memory(w.Heap) + " of heap are held live"
	}
	return text + "."
}

// doing says what is done with what: marshal of devices. Any is no verb.
func doing(r *tare.Result, w tare.Workload) string {
	what := or(w.Fixture, w.File)
	if w.Op == "any" && r.Kind == kindCodec {
		return "decoding " + what + " into any"
	}
	return w.Op + " of " + what
}

// without is set but for one name.
func without(set map[string]string, name string) map[string]string {
	out := maps.Clone(set)
	delete(out, name)
	return out
}

// chosen are settings in one line, by name: depth: 3, params: 1.
func chosen(set map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, key+": "+set[key])
	}
	return strings.Join(parts, ", ")
}

// driven says how requests reach a server; empty where there is no traffic.
func driven(r *tare.Result, w tare.Workload) string {
	if w.Traffic == nil {
		return ""
	}
	text := "Traffic: " + traffic(r, *w.Traffic)
	if byOwnClient(w) {
		text += ", asked by each contender's own client in a process of its own"
	}
	return text + "."
}

// traffic is how requests reach a server, in one line.
func traffic(r *tare.Result, t tare.Traffic) string {
	text, segment := "closed loop", ""
	if t.Segment > 0 {
		segment = " for " + lasting(t.Segment)
	}
	if t.Rate > 0 {
		text = "open loop, " + asRate(t.Rate) + " requests/s" + segment + ", " + plural(t.Connections, "connection")
	} else {
		text += ", " + plural(t.Connections, "connection") + segment
	}
	if local(r) {
		text += ", loopback"
	}
	if t.TLS {
		text += ", TLS"
	}
	if t.Delay > 0 {
		text += ", " + lasting(t.Delay) + " delay"
	}
	if t.Bandwidth > 0 {
		text += ", " + bits(t.Bandwidth) + " each way"
	}
	return text
}

// local reports whether every server is known to be on this machine.
func local(r *tare.Result) bool {
	return !slices.ContainsFunc(r.Contenders, func(c tare.Contender) bool {
		if c.Launch != tare.LaunchURL {
			return false
		}
		u, err := url.Parse(c.URL)
		return err != nil || !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
	})
}

// lasting prints a duration that somebody asked for: 5 s, 20 ms.
func lasting(d time.Duration) string {
	for _, step := range []struct {
		unit time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}} {
		if d >= step.unit {
			return number(float64(d)/float64(step.unit)) + " " + step.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + " ns"
}

// bits prints a bandwidth: 70 Mbit/s.
func bits(perSecond int64) string {
	for _, step := range []struct {
		unit float64
		name string
	}{{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}} {
		if x := float64(perSecond); x >= step.unit {
			return number(x/step.unit) + " " + step.name
		}
	}
	return strconv.FormatInt(perSecond, 10) + " bit/s"
}

// perRequest is a unit in which an operation is one request.
func perRequest(unit string) string {
	switch before, ok := strings.CutSuffix(unit, "/op"); {
	case !ok:
		return unit
	case before == "allocs":
		return "per request"
	default:
		return before + "/request"
	}
}
