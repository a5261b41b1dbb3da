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

// This file reads JSON reports of vegeta, k6, oha and ghz.

// isJSONReport reports whether a file begins like a JSON document. It returns false for an event of
// go test.
func isJSONReport(start []byte) bool {
	if len(start) < 2 || start[0] != '{' {
		return false
	}
	first, _, _ := bytes.Cut(start, []byte("\n"))
	return !bytes.Contains(first, []byte(`"Action":`))
}

// Exceeding maxDepth is an error. The other bounds limit the stored scalars (numbers, texts, true
// and false): some reports list every request.
const (
	maxDepth      = 1000 // nested objects and arrays
	maxValues     = 4096 // stored scalars
	maxElements   = 64   // elements of an array with stored scalars
	maxStoreDepth = 6    // objects and arrays around a stored scalar
)

// flat holds scalars by path. In {"latencies": {"mean": 12}} the path of 12 is "latencies.mean".
type flat map[string]any

// number returns the first number at one of paths, times scale.
func (f flat) number(line int, scale float64, paths ...string) lineValue {
	for _, path := range paths {
		if v, ok := f[path].(float64); ok && v >= 0 {
			return lineValue{v * scale, line}
		}
	}
	return lineValue{}
}

// sum adds the numbers directly below a path whose keys are selected.
func (f flat) sum(line int, path string, selects func(key string) bool) lineValue {
	total := lineValue{}
	for key, v := range f {
		name, ok := strings.CutPrefix(key, path+".")
		n, isNumber := v.(float64)
		if ok && isNumber && !strings.Contains(name, ".") && selects(name) {
			total = lineValue{total.value + n, line}
		}
	}
	return total
}

// tokenLimiter is a reader that counts lines. It fails at a token longer than maxLine before the
// decoder stores it.
type tokenLimiter struct {
	r       io.Reader
	line    int  // line of the last byte read, from 1
	length  int  // bytes of the current token
	quoted  bool // in a string
	escaped bool // after a backslash in a string
}

func (g *tokenLimiter) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	for _, c := range p[:n] {
		if c == '\n' {
			g.line++
		}
		g.length++
		switch {
		case g.escaped:
			g.escaped = false
		case g.quoted && c == '\\':
			g.escaped = true
		case c == '"':
			g.quoted, g.length = !g.quoted, 0
		case !g.quoted && strings.IndexByte(",:{}[] \n", c) >= 0:
			g.length = 0
		}
		if g.length > maxLine {
			return 0, fmt.Errorf("a token of the JSON document has more than %d bytes", maxLine)
		}
	}
	return n, err
}

func (r *reader) readReports(file *textfile.File) error {
	in := &tokenLimiter{r: file, line: 1}
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
			r.doc.reports = append(r.doc.reports, l)
		}
		if err := r.checkBounds(); err != nil {
			return err
		}
	}
}

// flatten reads one JSON value. At the end of the input it returns io.EOF.
func flatten(dec *json.Decoder) (flat, error) {
	f := flat{}
	const depth, isStored = 0, true
	return f, f.addValue(dec, "", depth, isStored)
}

// addValue reads the next value of dec, and stores its scalars by path if isStored is set. depth is
// the number of objects and arrays around it.
func (f flat) addValue(dec *json.Decoder, path string, depth int, isStored bool) error {
	next := func() (json.Token, error) {
		token, err := dec.Token()
		if depth > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return token, err
	}
	token, err := next()
	if err != nil {
		return err
	}
	delim, isDelim := token.(json.Delim)
	if !isDelim {
		if isStored && depth > 0 && len(f) < maxValues {
			f[path] = token
		}
		return nil
	}
	isStored = isStored && depth <= maxStoreDepth
	if depth++; depth > maxDepth {
		return fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	for i := 0; dec.More(); i++ {
		name := strconv.Itoa(i)
		if delim == '{' {
			key, err := next()
			if err != nil {
				return err
			}
			name, _ = key.(string)
		}
		isItemStored := isStored && (delim == '{' || i < maxElements)
		if isItemStored && depth > 1 {
			name = path + "." + name
		}
		if err := f.addValue(dec, name, depth, isItemStored); err != nil {
			return err
		}
	}
	_, err = next() // the closing bracket
	return err
}

const (
	noScale      = 1 // no unit, or s
	nanoseconds  = 1e-9
	milliseconds = 1e-3
)

// findReport recognizes a report by its keys. It returns nil for other documents.
func findReport(f flat, pos position) *loadReport {
	has := func(path string) bool { _, ok := f[path].(float64); return ok }
	l := &loadReport{position: pos}
	switch {
	case has("latencies.mean") && has("throughput"):
		l.readVegeta(f)
	case has("summary.requestsPerSec") && has("summary.average"):
		l.readOha(f)
	case has("count") && has("rps") && has("average"):
		l.readGhz(f)
	case has("metrics.http_req_duration.avg") || has("metrics.http_req_duration.values.avg"):
		l.readK6(f)
	default:
		return nil
	}
	return l
}

// addQuantile adds a quantile: the first number at one of paths. scale is its unit in s.
func (l *loadReport) addQuantile(f flat, share, scale float64, paths ...string) {
	if v := f.number(l.line, scale, paths...); v.isKnown() {
		l.quantiles = append(l.quantiles, quantileValue{share: share, value: v.value, line: l.line})
	}
}

// isErrorStatus reports whether a status of HTTP or gRPC, such as 500 or Unavailable, is an error.
func isErrorStatus(status string) bool {
	return !strings.HasPrefix(status, "2") && !strings.HasPrefix(status, "3") && status != "OK"
}

// readVegeta reads vegeta report -type=json. Times are in ns.
func (l *loadReport) readVegeta(f flat) {
	n := l.line
	l.tool, l.isOpenLoop = "vegeta", true
	l.requests, l.duration = f.number(n, noScale, "requests"), f.number(n, nanoseconds, "duration")
	l.offeredRate, l.rate = f.number(n, noScale, "rate"), f.number(n, noScale, "throughput")
	l.meanLatency, l.minLatency, l.maxLatency = f.number(n, nanoseconds, "latencies.mean"), f.number(n, nanoseconds, "latencies.min"), f.number(n, nanoseconds, "latencies.max")
	for _, percent := range []float64{50, 90, 95, 99} {
		l.addQuantile(f, percent/100, nanoseconds, fmt.Sprintf("latencies.%gth", percent))
	}
	if success, ok := f["success"].(float64); ok && success < 1 {
		l.errorResponses = lineValue{(1 - success) * l.requests.value, n}
	}
}

// readOha reads oha --json. Times are in s.
func (l *loadReport) readOha(f flat) {
	n := l.line
	l.tool = "oha"
	l.rate, l.duration = f.number(n, noScale, "summary.requestsPerSec"), f.number(n, noScale, "summary.total")
	l.meanLatency, l.minLatency, l.maxLatency = f.number(n, noScale, "summary.average"), f.number(n, noScale, "summary.fastest"), f.number(n, noScale, "summary.slowest")
	isAny := func(string) bool { return true }
	isError := func(key string) bool { return !strings.Contains(key, "deadline") } // aborted at the end of the run
	l.requests = f.sum(n, "statusCodeDistribution", isAny)
	l.errorResponses = addLineValues(f.sum(n, "statusCodeDistribution", isErrorStatus), f.sum(n, "errorDistribution", isError))
	for _, percent := range []float64{50, 75, 90, 95, 99, 99.9} {
		l.addQuantile(f, percent/100, noScale, fmt.Sprintf("latencyPercentiles.p%g", percent))
	}
}

// readGhz reads ghz -O json. Times are in ns.
func (l *loadReport) readGhz(f flat) {
	n := l.line
	l.tool = "ghz"
	l.requests, l.duration, l.rate = f.number(n, noScale, "count"), f.number(n, nanoseconds, "total"), f.number(n, noScale, "rps")
	l.meanLatency, l.minLatency, l.maxLatency = f.number(n, nanoseconds, "average"), f.number(n, nanoseconds, "fastest"), f.number(n, nanoseconds, "slowest")
	l.connections = f.number(n, noScale, "options.concurrency")
	l.errorResponses = f.sum(n, "statusCodeDistribution", isErrorStatus)
	if rate := f.number(n, noScale, "options.rps"); rate.value > 0 {
		l.offeredRate, l.isOpenLoop = rate, true
	}
	for i := range maxElements {
		path := "latencyDistribution." + strconv.Itoa(i)
		if p, ok := f[path+".percentage"].(float64); ok {
			l.addQuantile(f, p/100, nanoseconds, path+".latency")
		}
	}
}

// readK6 reads k6 --summary-export, or handleSummary with "values" in its paths. Times are in ms.
func (l *loadReport) readK6(f flat) {
	n := l.line
	l.tool = "k6"
	paths := func(name, value string) []string {
		return []string{"metrics." + name + "." + value, "metrics." + name + ".values." + value}
	}
	duration := func(value string) lineValue { return f.number(n, milliseconds, paths("http_req_duration", value)...) }
	l.meanLatency, l.minLatency, l.maxLatency = duration("avg"), duration("min"), duration("max")
	l.addQuantile(f, 0.5, milliseconds, paths("http_req_duration", "med")...)
	for _, percent := range []float64{90, 95, 99, 99.9} {
		l.addQuantile(f, percent/100, milliseconds, paths("http_req_duration", fmt.Sprintf("p(%g)", percent))...)
	}
	l.requests, l.rate = f.number(n, noScale, paths("http_reqs", "count")...), f.number(n, noScale, paths("http_reqs", "rate")...)
	l.droppedIterations = f.number(n, noScale, paths("dropped_iterations", "count")...)
	failed := f.number(n, noScale, append(paths("http_req_failed", "rate"), "metrics.http_req_failed.value")...)
	if failed.isKnown() && failed.value > 0 && failed.value <= 1 {
		l.errorResponses = lineValue{failed.value * l.requests.value, n}
	}
}
