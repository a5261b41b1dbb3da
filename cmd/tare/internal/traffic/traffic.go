// Package traffic reads requests from files: access logs, HTTP archives (HAR), OpenAPI
// documents, and files with one request per line. [Sniff] detects the format by content, and
// [Read] reads the file. Files can have any length: the number and size of the stored
// requests are bounded, and invalid requests are counted.
package traffic

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/secret"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// Bounds of a feed.
const (
	maxRequests   = 100_000
	maxBroken     = 10        // invalid requests in Feed.Broken
	maxLine       = 1 << 20   // bytes of a line of a log
	maxEntry      = 64 << 20  // bytes of an entry of an archive, or of its content before the entries
	maxBytes      = 256 << 20 // bytes of methods, paths, headers and bodies
	maxLinesBytes = 1 << 30   // maxBytes, and maxLine, for the formats that are made for tare
)

// Feed holds the requests of a file. While the file is read, times and untimed are in the order of the file.
type Feed struct {
	Kind     Kind   // Unknown if the requests are not from a file
	Unpacked string // compression of the file, e.g. gzip; "" if it is not compressed
	Requests []load.Request
	Times    []time.Duration // time of each request since the first; nil if a time is missing
	Broken   []Broken        // the first invalid requests
	Lost     int             // number of all invalid requests
	Skipped  []Skipped       // entries other than requests to a server
	Secrets  int             // number of withheld secret values
	Nameless int             // number of omitted headers without a valid name
	More     bool            // the file has more requests than are stored

	times       []time.Duration // time of each request since the first in the file
	untimed     []untimed       // requests whose time in times is invalid
	fullSeconds bool            // times are in full seconds
	size        int             // bytes of the stored requests
	keepSecrets bool            // secret values are not withheld
}

// Skipped counts entries that are not requests to a server, by reason.
type Skipped struct {
	Why   string
	Count int
}

// untimed is a request without a valid time.
type untimed struct {
	index  int    // index in Requests
	broken Broken // its error, if times are required
}

// Broken is a request that cannot be sent.
type Broken struct {
	Line  int    // line of the file; 0 if Where is set
	Where string // position in a file without lines, e.g. entry 3
	Why   string
}

// FileName returns the name of a file in messages: "-" is stdin.
func FileName(file string) string {
	if file == "-" {
		return "stdin"
	}
	return file
}

// In returns the error with its position in a file.
func (b Broken) In(file string) string {
	file = FileName(file)
	if b.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", file, b.Line, b.Why)
	}
	return file + ": " + b.Where + ": " + b.Why
}

// Read reads a text of a format; name is the path of the file, for messages. Unless keepSecrets is set, it
// withholds the values of headers and parameters with secret names, except in formats that are made for tare.
// The feed is not nil even if there is an error.
func Read(kind Kind, name string, r io.Reader, keepSecrets bool) (*Feed, error) {
	f := &Feed{Kind: kind, keepSecrets: keepSecrets}
	var err error
	switch kind {
	case Lines:
		err = f.readLines(r)
	case DryRun:
		err = f.readDryRun(&boundedReader{r: r, limit: maxEntry})
	case AccessLog:
		err = f.readLog(r)
	case Caddy:
		err = f.readCaddy(r)
	case HAR:
		err = f.readHAR(&boundedReader{r: r, limit: maxEntry})
	case OpenAPI:
		err = f.readOpenAPI(name, r)
	default:
		err = errors.New("it has none of the formats")
	}
	f.sortByTime()
	return f, err
}

// countSkipped counts an entry that is not a request to a server, for the reason why.
func (f *Feed) countSkipped(why string) {
	for i := range f.Skipped {
		if f.Skipped[i].Why == why {
			f.Skipped[i].Count++
			return
		}
	}
	f.Skipped = append(f.Skipped, Skipped{why, 1})
}

// recordBroken records the error of an invalid request, at a line of the file or, if line is
// 0, at where.
func (f *Feed) recordBroken(line int, where string, err error) {
	f.addBroken(Broken{line, where, err.Error()})
}

// addBroken counts an invalid request, and stores the first maxBroken.
func (f *Feed) addBroken(b Broken) {
	f.Lost++
	if len(f.Broken) < maxBroken {
		const maxMessage = 200 // characters
		b.Why = format.Line(b.Why, maxMessage)
		f.Broken = append(f.Broken, b)
	}
}

// isFull reports whether a bound is reached, and sets f.More then. It is called before a request is added.
func (f *Feed) isFull() bool {
	limit := maxBytes
	if f.Kind.IsTares() {
		limit = maxLinesBytes
	}
	f.More = f.More || len(f.Requests) == maxRequests || f.size >= limit
	return f.More
}

// addRequest adds a request without a time.
func (f *Feed) addRequest(q load.Request) {
	f.Requests = append(f.Requests, q)
	f.size += requestSize(q)
}

// addTimed adds a request with its recorded time or, if timeErr is not nil, with the error in
// reading the time. line and where are its position, as for recordBroken.
func (f *Feed) addTimed(q load.Request, c *clock, recorded time.Time, timeErr error, line int, where string) {
	var since time.Duration
	if timeErr == nil {
		since, timeErr = c.sinceFirst(recorded)
	}
	if timeErr != nil {
		f.untimed = append(f.untimed, untimed{
			index:  len(f.Requests),
			broken: Broken{Line: line, Where: where, Why: timeErr.Error()},
		})
	}
	f.addRequest(q)
	f.times = append(f.times, since)
}

// requestSize returns the number of bytes of a request's texts and body.
func requestSize(q load.Request) int {
	n := len(q.Method) + len(q.Path) + len(q.Body)
	for _, h := range q.Header {
		n += len(h[0]) + len(h[1])
	}
	return n
}

// sortByTime sorts the requests by their times and sets f.Times, which begin at 0. If a time
// is missing, the requests stay in the order of the file, and f.Times is nil.
func (f *Feed) sortByTime() {
	isTimed := len(f.times) > 0 && len(f.times) == len(f.Requests) && len(f.untimed) == 0
	if !isTimed {
		return
	}
	order := make([]int, len(f.times)) // indices of the requests, sorted by time
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f.times[a], f.times[b]) })
	requests, times := make([]load.Request, len(order)), make([]time.Duration, len(order))
	for i, k := range order {
		requests[i], times[i] = f.Requests[k], f.times[k]-f.times[order[0]]
	}
	if f.fullSeconds {
		spreadSeconds(times)
	}
	f.Requests, f.Times, f.times = requests, times, nil
}

// Untimed returns the number of requests without a valid time. If it is not 0, all requests are in the order of the
// file.
func (f *Feed) Untimed() int { return len(f.untimed) }

// RequireTimes removes the requests without a valid time, and counts them as broken.
func (f *Feed) RequireTimes() {
	for i := len(f.untimed) - 1; i >= 0; i-- {
		k := f.untimed[i].index
		f.Requests, f.times = slices.Delete(f.Requests, k, k+1), slices.Delete(f.times, k, k+1)
	}
	for _, u := range f.untimed {
		f.addBroken(u.broken)
	}
	if len(f.untimed) > 0 {
		f.untimed = nil
		f.sortByTime()
	}
}

// spreadSeconds spreads the requests of each second evenly over the second. times are sorted
// and in full seconds.
func spreadSeconds(times []time.Duration) {
	for start := 0; start < len(times); {
		end := start // of the requests of one second
		for end < len(times) && times[end] == times[start] {
			end++
		}
		for i := start + 1; i < end; i++ {
			times[i] += time.Second * time.Duration(i-start) / time.Duration(end-start)
		}
		start = end
	}
}

// isWithheld reports whether a header or parameter has a secret name and must be withheld.
// It counts the value in f.Secrets then.
func (f *Feed) isWithheld(name string) bool {
	if f.keepSecrets || !secret.IsName(name) {
		return false
	}
	f.Secrets++
	return true
}

// publicQuery returns a path or URL without secret parameters.
func (f *Feed) publicQuery(target string) string {
	if f.keepSecrets {
		return target
	}
	target, n := secret.RemoveFromQuery(target)
	f.Secrets += n
	return target
}

// publicBody returns a body of a content type without secret values.
func (f *Feed) publicBody(contentType string, body []byte) []byte {
	if f.keepSecrets {
		return body
	}
	body, n := secret.EmptyInBody(contentType, body)
	f.Secrets += n
	return body
}

// maxSpan limits the length of a recording.
const maxSpan = 366 * 24 * time.Hour

// clock converts recorded times to times since the first request of a file.
type clock struct {
	first    time.Time // time of the first request
	hasFirst bool
}

// sinceFirst returns the time from the first request to t, which may be negative. It returns
// an error if that is more than maxSpan: a load would wait as long.
func (c *clock) sinceFirst(t time.Time) (time.Duration, error) {
	if t.Unix() < 0 {
		return 0, fmt.Errorf("its time is before 1970: %s", t.Format(time.RFC3339))
	}
	if !c.hasFirst {
		c.first, c.hasFirst = t, true
	}
	d := t.Sub(c.first)
	if d < -maxSpan || d > maxSpan {
		return 0, fmt.Errorf("its time is more than a year from that of the first, %s: %s", c.first.Format(time.RFC3339), t.Format(time.RFC3339))
	}
	return d, nil
}

// Recorded is a load profile that sends requests at recorded times, Speed times as fast.
type Recorded struct {
	At    []time.Duration // time of each request, not decreasing
	Speed float64
}

// Times returns a function that returns the time of the next request at each call, and the
// greatest duration after the last. The seed is not used.
func (r Recorded) Times(uint64) func() time.Duration {
	i := 0
	return func() time.Duration {
		if i == len(r.At) {
			return math.MaxInt64
		}
		i++
		return time.Duration(float64(r.At[i-1]) / r.Speed)
	}
}

// Mean returns the mean rate, in requests per second, over the first d.
func (r Recorded) Mean(d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	n, _ := slices.BinarySearch(r.At, time.Duration(float64(d)*r.Speed))
	return float64(n) / d.Seconds()
}

// String describes the profile.
func (r Recorded) String() string { return fmt.Sprintf("as recorded, ×%g", r.Speed) }

// Length returns the duration of the profile: a millisecond longer than the last time, so
// that the last request is sent.
func (r Recorded) Length() time.Duration {
	if len(r.At) == 0 {
		return 0
	}
	return time.Duration(float64(r.At[len(r.At)-1])/r.Speed) + time.Millisecond
}
