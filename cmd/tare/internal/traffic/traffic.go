// Package traffic reads requests from files: access logs, HTTP archives (HAR), OpenAPI
// documents, and lines with a request each. It detects the format by content. Files can
// have any length: the stored part is bounded, and unreadable requests are counted.
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
	maxBroken     = 10        // listed, the others are only counted
	maxLine       = 1 << 20   // bytes of a line of a log
	maxEntry      = 64 << 20  // bytes of an entry of an archive, or of its other content
	maxKept       = 256 << 20 // bytes of methods, paths, headers and bodies
	maxLinesBytes = 1 << 30   // the same for Lines, and bytes of a line
)

// Feed holds the requests of a file.
type Feed struct {
	Kind     Kind   // Unknown if the requests are not from a file
	Unpacked string // compression of the file, e.g. gzip
	Requests []load.Request
	Times    []time.Duration // since the first request; nil if one is missing
	Broken   []Broken        // the first ten invalid requests
	Lost     int             // number of invalid requests
	Skipped  []Skipped       // entries other than requests to a server
	Secrets  int             // number of withheld secret values
	More     bool            // the file has more requests

	times   []time.Duration // of each request, since the first in the file
	untimed []untimed       // requests with an invalid time in times
	seconds bool            // times are in full seconds
	size    int             // bytes
	secrets bool            // secrets are not withheld
}

// Skipped counts entries that are not requests to a server, by reason.
type Skipped struct {
	Why   string
	Count int
}

// untimed is a request without a usable time, and its Broken if times are required.
type untimed struct {
	index int
	why   Broken
}

// Broken is a request that cannot be sent.
type Broken struct {
	Line  int    // of the file; 0 if Where is set
	Where string // entry 3, GET /users
	Why   string
}

// FileName returns the name of a file in messages: "-" is stdin.
func FileName(file string) string {
	if file == "-" {
		return "stdin"
	}
	return file
}

// In returns the position in file and the error.
func (b Broken) In(file string) string {
	file = FileName(file)
	if b.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", file, b.Line, b.Why)
	}
	return file + ": " + b.Where + ": " + b.Why
}

// Read reads a text of format kind; name is for messages. It withholds values with secret
// names, unless secrets is set or kind is Lines, which is written for tare.
func Read(kind Kind, name string, r io.Reader, secrets bool) (*Feed, error) {
	f := &Feed{Kind: kind, secrets: secrets}
	var err error
	switch kind {
	case Lines:
		err = f.readLines(r)
	case AccessLog:
		err = f.readLog(r)
	case Caddy:
		err = f.readCaddy(r)
	case HAR:
		err = f.readHAR(&boundedReader{r: r, most: maxEntry})
	case OpenAPI:
		err = f.readOpenAPI(name, r)
	default:
		err = errors.New("it has none of the formats")
	}
	f.sortByTime()
	return f, err
}

// countSkipped counts an entry that is not a request to a server.
func (f *Feed) countSkipped(why string) {
	for i := range f.Skipped {
		if f.Skipped[i].Why == why {
			f.Skipped[i].Count++
			return
		}
	}
	f.Skipped = append(f.Skipped, Skipped{why, 1})
}

// recordBroken records an invalid request at a line of the file or, if that is 0, at where.
func (f *Feed) recordBroken(line int, where string, err error) {
	f.addBroken(Broken{line, where, err.Error()})
}

func (f *Feed) addBroken(b Broken) {
	if f.Lost++; len(f.Broken) < maxBroken {
		b.Why = format.Line(b.Why, 200)
		f.Broken = append(f.Broken, b)
	}
}

// isFull reports whether a bound is reached.
func (f *Feed) isFull() bool {
	most := maxKept
	if f.Kind == Lines {
		most = maxLinesBytes
	}
	f.More = f.More || len(f.Requests) == maxRequests || f.size >= most
	return f.More
}

// addRequest adds a request.
func (f *Feed) addRequest(q load.Request) {
	f.Requests = append(f.Requests, q)
	f.size += requestSize(q)
}

// addTimed adds a request with its recorded time, or with the error unread of that time. line
// and where are its position, as for recordBroken.
func (f *Feed) addTimed(q load.Request, c *clock, at time.Time, unread error, line int, where string) {
	var since time.Duration
	if unread == nil {
		since, unread = c.sinceFirst(at)
	}
	if unread != nil {
		f.untimed = append(f.untimed, untimed{len(f.Requests), Broken{line, where, unread.Error()}})
	}
	f.addRequest(q)
	f.times = append(f.times, since)
}

// requestSize returns the bytes that a request stores.
func requestSize(q load.Request) int {
	n := len(q.Method) + len(q.Path) + len(q.Body)
	for _, h := range q.Header {
		n += len(h[0]) + len(h[1])
	}
	return n
}

// sortByTime sorts the requests by their times, which then begin at 0. If a time is missing,
// they keep the order of the file.
func (f *Feed) sortByTime() {
	if len(f.untimed) > 0 || len(f.times) != len(f.Requests) || len(f.times) == 0 {
		return
	}
	at := make([]int, len(f.times))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(f.times[a], f.times[b]) })
	requests, times := make([]load.Request, len(at)), make([]time.Duration, len(at))
	for i, k := range at {
		requests[i], times[i] = f.Requests[k], f.times[k]-f.times[at[0]]
	}
	if f.seconds {
		spreadSeconds(times)
	}
	f.Requests, f.Times, f.times = requests, times, nil
}

// RequireTimes moves the requests without a time to the broken ones.
func (f *Feed) RequireTimes() {
	for i := len(f.untimed) - 1; i >= 0; i-- {
		k := f.untimed[i].index
		f.Requests, f.times = slices.Delete(f.Requests, k, k+1), slices.Delete(f.times, k, k+1)
	}
	for _, u := range f.untimed {
		f.addBroken(u.why)
	}
	if len(f.untimed) > 0 {
		f.untimed = nil
		f.sortByTime()
	}
}

// spreadSeconds spreads the requests of each second evenly over it. times are sorted, in full
// seconds.
func spreadSeconds(times []time.Duration) {
	for i := 0; i < len(times); {
		k := i
		for k < len(times) && times[k] == times[i] {
			k++
		}
		for n := i; n < k; n++ {
			times[n] += time.Second * time.Duration(n-i) / time.Duration(k-i)
		}
		i = k
	}
}

// isWithheld reports whether a header or parameter has a secret name, and counts it.
func (f *Feed) isWithheld(name string) bool {
	if f.secrets || !secret.IsName(name) {
		return false
	}
	f.Secrets++
	return true
}

// publicQuery returns a path or URL without secret parameters.
func (f *Feed) publicQuery(target string) string {
	if f.secrets {
		return target
	}
	target, n := secret.RemoveFromQuery(target)
	f.Secrets += n
	return target
}

// publicBody returns a body of a content type without secret values.
func (f *Feed) publicBody(kind string, body []byte) []byte {
	if f.secrets {
		return body
	}
	body, n := secret.EmptyInBody(kind, body)
	f.Secrets += n
	return body
}

// maxSpan limits the length of a recording.
const maxSpan = 366 * 24 * time.Hour

// clock converts recorded times.
type clock struct {
	first time.Time // of its first request
	runs  bool
}

// sinceFirst returns the time from the first request to at. It fails beyond maxSpan, because
// the load would wait for it.
func (c *clock) sinceFirst(at time.Time) (time.Duration, error) {
	if at.Unix() < 0 {
		return 0, fmt.Errorf("its time is before 1970: %s", at.Format(time.RFC3339))
	}
	if !c.runs {
		c.first, c.runs = at, true
	}
	d := at.Sub(c.first)
	if d < -maxSpan || d > maxSpan {
		return 0, fmt.Errorf("its time is more than a year from that of the first, %s: %s", c.first.Format(time.RFC3339), at.Format(time.RFC3339))
	}
	return d, nil
}

// Recorded is a profile of recorded times, Speed times as fast.
type Recorded struct {
	At    []time.Duration // never decreasing
	Speed float64
}

// Times returns the times; the seed is not used.
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

// Mean returns the mean rate over the first d.
func (r Recorded) Mean(d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	n, _ := slices.BinarySearch(r.At, time.Duration(float64(d)*r.Speed))
	return float64(n) / d.Seconds()
}

// String describes the profile.
func (r Recorded) String() string { return fmt.Sprintf("as recorded, ×%g", r.Speed) }

// Length returns the duration of the profile.
func (r Recorded) Length() time.Duration {
	if len(r.At) == 0 {
		return 0
	}
	return time.Duration(float64(r.At[len(r.At)-1])/r.Speed) + time.Millisecond
}
