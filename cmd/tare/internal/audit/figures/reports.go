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

// isReport reports whether a file begins with a JSON object that is not an event of go test.
func isReport(start []byte) bool {
	if len(start) < 2 || start[0] != '{' {
		return false
	}
	first, _, _ := bytes.Cut(start, []byte("\n"))
	return !bytes.Contains(first, []byte(`"Action":`))
}

// Bounds of a JSON document. Scalars beyond the last three are read and not stored: lists
// of single requests are long.
const (
	maxDepth      = 1000 // a deeper document is an error
	maxValues     = 4096
	maxElements   = 64 // of an array
	maxStoreDepth = 6
)

// flat holds the scalars of a JSON document by path, e.g. "latencies.mean".
type flat map[string]any

// number returns the first number at one of paths, multiplied by scale.
func (f flat) number(line int, scale float64, paths ...string) measured {
	for _, path := range paths {
		if v, ok := f[path].(float64); ok && v >= 0 {
			return measured{v * scale, line}
		}
	}
	return measured{}
}

// sum returns the sum of the numbers directly below a path with a selected key.
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

// guard is a reader that counts lines and fails at a token of JSON longer than maxLine,
// before a decoder stores the token.
type guard struct {
	r      io.Reader
	line   int  // line of the last byte
	length int  // bytes of the current token
	quoted bool // the current token is a string
	escape bool // the last byte was a backslash in a string
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
		if l := findReport(doc, r.position); l != nil {
			r.doc.loads = append(r.doc.loads, l)
		}
		if err := r.checkBounds(); err != nil {
			return err
		}
	}
}

// flatten reads one JSON value and returns its scalars by path. It returns io.EOF at the
// end of the input.
func flatten(dec *json.Decoder) (flat, error) {
	out := flat{}
	type level struct {
		path   string // path of the object or array, which ends with a point
		object bool
		key    string // key of the next value of an object; "" if the next token is a key
		index  int    // index of the next value
		drop   bool   // the values are not stored
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
				next.drop = top.drop || len(stack) > maxStoreDepth || !top.object && top.index >= maxElements
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
							top.key = " " // an empty key of the document
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

// Scales of the units of JSON documents in base units.
const (
	noScale      = 1 // a number, or a time in s
	nanoseconds  = 1e-9
	milliseconds = 1e-3
)

// findReport returns the report of a load generator that a document is, nil if it is
// something else. Its keys tell the tool.
func findReport(f flat, pos position) *load {
	has := func(path string) bool { _, ok := f[path].(float64); return ok }
	l := &load{position: pos}
	switch {
	case has("latencies.mean") && has("throughput"):
		l.fromVegeta(f)
	case has("summary.requestsPerSec") && has("summary.average"):
		l.fromOha(f)
	case has("count") && has("rps") && has("average"):
		l.fromGhz(f)
	case has("metrics.http_req_duration.avg") || has("metrics.http_req_duration.values.avg"):
		l.fromK6(f)
	default:
		return nil
	}
	return l
}

// addQuantile adds the quantile q whose latency is the first number at one of paths.
func (l *load) addQuantile(f flat, q, scale float64, paths ...string) {
	if v := f.number(l.line, scale, paths...); v.isKnown() {
		l.quantiles = append(l.quantiles, quantileValue{q, v.value, l.line})
	}
}

// isErrorStatus reports whether a key of a distribution of statuses counts errors.
func isErrorStatus(key string) bool {
	return !strings.HasPrefix(key, "2") && !strings.HasPrefix(key, "3") && key != "OK"
}

// fromVegeta reads the output of vegeta report -type=json, with times in ns.
func (l *load) fromVegeta(f flat) {
	n := l.line
	l.tool, l.open = "vegeta", true
	l.requests, l.duration = f.number(n, noScale, "requests"), f.number(n, nanoseconds, "duration")
	l.offered, l.rate = f.number(n, noScale, "rate"), f.number(n, noScale, "throughput")
	l.mean, l.min, l.max = f.number(n, nanoseconds, "latencies.mean"), f.number(n, nanoseconds, "latencies.min"), f.number(n, nanoseconds, "latencies.max")
	for _, percent := range []string{"50", "90", "95", "99"} {
		p, _ := strconv.ParseFloat(percent, 64)
		l.addQuantile(f, p/100, nanoseconds, "latencies."+percent+"th")
	}
	if success, ok := f["success"].(float64); ok && success < 1 {
		l.errors = measured{(1 - success) * l.requests.value, n}
	}
}

// fromOha reads the output of oha --json, with times in s.
func (l *load) fromOha(f flat) {
	n := l.line
	l.tool = "oha"
	l.rate, l.duration = f.number(n, noScale, "summary.requestsPerSec"), f.number(n, noScale, "summary.total")
	l.mean, l.min, l.max = f.number(n, noScale, "summary.average"), f.number(n, noScale, "summary.fastest"), f.number(n, noScale, "summary.slowest")
	isAny := func(string) bool { return true }
	isError := func(key string) bool { return !strings.Contains(key, "deadline") } // aborted at the end of the run
	l.requests = f.sum(n, "statusCodeDistribution", isAny)
	l.errors = addMeasured(f.sum(n, "statusCodeDistribution", isErrorStatus), f.sum(n, "errorDistribution", isError))
	for _, percent := range []string{"50", "75", "90", "95", "99", "99.9"} {
		p, _ := strconv.ParseFloat(percent, 64)
		l.addQuantile(f, p/100, noScale, "latencyPercentiles.p"+percent)
	}
}

// fromGhz reads the output of ghz -O json, with times in ns.
func (l *load) fromGhz(f flat) {
	n := l.line
	l.tool = "ghz"
	l.requests, l.duration, l.rate = f.number(n, noScale, "count"), f.number(n, nanoseconds, "total"), f.number(n, noScale, "rps")
	l.mean, l.min, l.max = f.number(n, nanoseconds, "average"), f.number(n, nanoseconds, "fastest"), f.number(n, nanoseconds, "slowest")
	l.connections = f.number(n, noScale, "options.concurrency")
	l.errors = f.sum(n, "statusCodeDistribution", isErrorStatus)
	if rate := f.number(n, noScale, "options.rps"); rate.value > 0 {
		l.offered, l.open = rate, true
	}
	for i := range maxElements {
		path := "latencyDistribution." + strconv.Itoa(i)
		if p, ok := f[path+".percentage"].(float64); ok {
			l.addQuantile(f, p/100, nanoseconds, path+".latency")
		}
	}
}

// fromK6 reads the output of k6 --summary-export, or of handleSummary, which has the
// figures of a metric below "values". Times are in ms.
func (l *load) fromK6(f flat) {
	n := l.line
	l.tool = "k6"
	paths := func(name, value string) []string {
		return []string{"metrics." + name + "." + value, "metrics." + name + ".values." + value}
	}
	duration := func(value string) measured { return f.number(n, milliseconds, paths("http_req_duration", value)...) }
	l.mean, l.min, l.max = duration("avg"), duration("min"), duration("max")
	l.addQuantile(f, 0.5, milliseconds, paths("http_req_duration", "med")...)
	for _, percent := range []string{"90", "95", "99", "99.9"} {
		p, _ := strconv.ParseFloat(percent, 64)
		l.addQuantile(f, p/100, milliseconds, paths("http_req_duration", "p("+percent+")")...)
	}
	l.requests, l.rate = f.number(n, noScale, paths("http_reqs", "count")...), f.number(n, noScale, paths("http_reqs", "rate")...)
	l.dropped = f.number(n, noScale, paths("dropped_iterations", "count")...)
	failed := f.number(n, noScale, append(paths("http_req_failed", "rate"), "metrics.http_req_failed.value")...)
	if failed.isKnown() && failed.value > 0 && failed.value <= 1 {
		l.errors = measured{failed.value * l.requests.value, n}
	}
}
