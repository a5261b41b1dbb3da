package figures

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/textfile"
)

// isReport reports whether a file begins as a JSON document that is no event of go test.
func isReport(start []byte) bool {
	if len(start) < 2 || start[0] != '{' {
		return false
	}
	first, _, _ := bytes.Cut(start, []byte("\n"))
	return !bytes.Contains(first, []byte(`"Action":`))
}

// Bounds of what is stored of a JSON document. Lists of single requests are longer; they are
// read and not stored.
const (
	maxDepth    = 1000
	maxValues   = 4096
	maxElements = 64
)

// flat is the scalars of a JSON document by path, e.g. "latencies.mean".
type flat map[string]any

// number returns the number at the first path that has one, times scale.
func (f flat) number(line int, scale float64, paths ...string) measured {
	for _, path := range paths {
		if v, ok := f[path].(float64); ok && v >= 0 {
			return measured{v * scale, line}
		}
	}
	return measured{}
}

// sum returns the sum of the numbers directly below a path whose keys are selected.
func (f flat) sum(line int, path string, selects func(key string) bool) measured {
	total := measured{}
	for key, v := range f {
		name, ok := strings.CutPrefix(key, path+".")
		n, isNumber := v.(float64)
		if ok && isNumber && !strings.Contains(name, ".") && selects(name) {
			total = measured{total.value + n, line}
		}
	}
	return total
}

// guard fails if a token of JSON is too long to be one of a report, before a decoder stores it.
type guard struct {
	r      io.Reader
	line   int // of the byte that was read last
	length int // of the token
	quoted bool
	escape bool
}

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	for _, c := range p[:n] {
		if c == '\n' {
			g.line++
		}
		g.length++
		switch {
		case g.escape:
			g.escape = false
		case g.quoted && c == '\\':
			g.escape = true
		case c == '"':
			g.quoted, g.length = !g.quoted, 0
		case !g.quoted && (c == ',' || c == ':' || c == '{' || c == '}' || c == '[' || c == ']' || c == ' ' || c == '\n'):
			g.length = 0
		}
		if g.length > maxLine {
			return 0, fmt.Errorf("a token of the JSON document has more than %d bytes", maxLine)
		}
	}
	return n, err
}

// readReports reads the JSON documents of a file: reports of vegeta, k6, oha or ghz. A
// document of another tool has no findings.
func (r *reader) readReports(file *textfile.File) error {
	in := &guard{r: file, line: 1}
	dec := json.NewDecoder(in)
	for {
		line := in.line
		doc, err := flatten(dec)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("%s:%d:1: the JSON document is cut off", r.doc.name, in.line)
		case err != nil:
			return fmt.Errorf("%s:%d:1: not a JSON document: %w", r.doc.name, in.line, err)
		}
		r.line = line
		if l := parseReport(doc, r.position); l != nil {
			r.doc.loads = append(r.doc.loads, l)
		}
		if err := r.checkBounds(); err != nil {
			return err
		}
	}
}

// flatten reads one value and returns its scalars by path. io.EOF: there is none.
func flatten(dec *json.Decoder) (flat, error) {
	out := flat{}
	type level struct {
		path   string
		object bool
		key    string // "" if the next token is a key
		index  int
		drop   bool // the values are not stored
	}
	var stack []level
	store := func(v any) {
		if len(stack) == 0 {
			return
		}
		top := &stack[len(stack)-1]
		if !top.drop && len(out) < maxValues && (top.object || top.index < maxElements) {
			path := top.key
			if !top.object {
				path = strconv.Itoa(top.index)
			}
			out[top.path+path] = v
		}
		top.key = ""
		top.index++
	}
	for {
		token, err := dec.Token()
		if err != nil {
			if len(stack) > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return out, err
		}
		delim, isDelim := token.(json.Delim)
		switch {
		case isDelim && (delim == '{' || delim == '['):
			next := level{object: delim == '{'}
			if len(stack) > 0 {
				top := &stack[len(stack)-1]
				name := top.key
				if !top.object {
					name = strconv.Itoa(top.index)
				}
				next.drop = top.drop || len(stack) > 6 || !top.object && top.index >= maxElements
				if !next.drop {
					next.path = top.path + name + "."
				}
			}
			if stack = append(stack, next); len(stack) > maxDepth {
				return out, fmt.Errorf("it is nested more than %d deep", maxDepth)
			}
		case isDelim:
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				top := &stack[len(stack)-1]
				top.key = ""
				top.index++
			}
		default:
			if len(stack) > 0 {
				if top := &stack[len(stack)-1]; top.object && top.key == "" {
					if key, ok := token.(string); ok {
						if top.key = key; key == "" {
							top.key = " "
						}
						continue
					}
				}
			}
			store(token)
		}
		if len(stack) == 0 {
			return out, nil
		}
	}
}

// parseReport returns the report that a document is, or nil.
func parseReport(f flat, at position) *load {
	const ns, ms = 1e-9, 1e-3
	has := func(path string) bool { _, ok := f[path].(float64); return ok }
	l := &load{position: at}
	n := at.line
	other := func(key string) bool {
		return !strings.HasPrefix(key, "2") && !strings.HasPrefix(key, "3") && key != "OK"
	}
	quantile := func(q float64, scale float64, paths ...string) {
		if v := f.number(n, scale, paths...); v.isKnown() {
			l.quantiles = append(l.quantiles, quantileValue{q, v.value, n})
		}
	}
	switch {
	case has("latencies.mean") && has("throughput"):
		l.tool, l.open = "vegeta", true
		l.requests, l.duration = f.number(n, 1, "requests"), f.number(n, ns, "duration")
		l.offered, l.rate = f.number(n, 1, "rate"), f.number(n, 1, "throughput")
		l.mean, l.min, l.max = f.number(n, ns, "latencies.mean"), f.number(n, ns, "latencies.min"), f.number(n, ns, "latencies.max")
		for _, q := range []string{"50", "90", "95", "99"} {
			p, _ := strconv.ParseFloat(q, 64)
			quantile(p/100, ns, "latencies."+q+"th")
		}
		if success, ok := f["success"].(float64); ok && success < 1 {
			l.errors = measured{(1 - success) * l.requests.value, n}
		}
	case has("summary.requestsPerSec") && has("summary.average"):
		l.tool = "oha"
		l.rate, l.duration = f.number(n, 1, "summary.requestsPerSec"), f.number(n, 1, "summary.total")
		l.mean, l.min, l.max = f.number(n, 1, "summary.average"), f.number(n, 1, "summary.fastest"), f.number(n, 1, "summary.slowest")
		l.requests = f.sum(n, "statusCodeDistribution", func(string) bool { return true })
		l.errors = addMeasured(f.sum(n, "statusCodeDistribution", other), f.sum(n, "errorDistribution", func(key string) bool { return !strings.Contains(key, "deadline") }))
		for _, q := range []string{"50", "75", "90", "95", "99", "99.9"} {
			p, _ := strconv.ParseFloat(q, 64)
			quantile(p/100, 1, "latencyPercentiles.p"+q)
		}
	case has("count") && has("rps") && has("average"):
		l.tool = "ghz"
		l.requests, l.duration, l.rate = f.number(n, 1, "count"), f.number(n, ns, "total"), f.number(n, 1, "rps")
		l.mean, l.min, l.max = f.number(n, ns, "average"), f.number(n, ns, "fastest"), f.number(n, ns, "slowest")
		l.connections = f.number(n, 1, "options.concurrency")
		l.errors = f.sum(n, "statusCodeDistribution", other)
		if l.offered = f.number(n, 1, "options.rps"); l.offered.value > 0 {
			l.open = true
		} else {
			l.offered = measured{}
		}
		for i := range maxElements {
			path := "latencyDistribution." + strconv.Itoa(i)
			if p, ok := f[path+".percentage"].(float64); ok {
				quantile(p/100, ns, path+".latency")
			}
		}
	case has("metrics.http_req_duration.avg") || has("metrics.http_req_duration.values.avg"):
		l.tool = "k6"
		metric := func(name, value string) []string {
			return []string{"metrics." + name + "." + value, "metrics." + name + ".values." + value}
		}
		l.mean, l.min, l.max = f.number(n, ms, metric("http_req_duration", "avg")...), f.number(n, ms, metric("http_req_duration", "min")...), f.number(n, ms, metric("http_req_duration", "max")...)
		quantile(0.5, ms, metric("http_req_duration", "med")...)
		for _, q := range []string{"90", "95", "99", "99.9"} {
			p, _ := strconv.ParseFloat(q, 64)
			quantile(p/100, ms, metric("http_req_duration", "p("+q+")")...)
		}
		l.requests, l.rate = f.number(n, 1, metric("http_reqs", "count")...), f.number(n, 1, metric("http_reqs", "rate")...)
		l.dropped = f.number(n, 1, metric("dropped_iterations", "count")...)
		failed := f.number(n, 1, append(metric("http_req_failed", "rate"), "metrics.http_req_failed.value")...)
		if failed.isKnown() && failed.value > 0 && failed.value <= 1 {
			l.errors = measured{failed.value * l.requests.value, n}
		}
	default:
		return nil
	}
	return l
}
