// Package traffic reads the requests that "tare load --feed FILE" sends. A file is an access log, an
// HTTP archive (HAR), an OpenAPI document, or has one request per line. [Sniff] detects the format by
// content, and [Read] reads the file. Files can have any length: the number and size of the stored
// requests are bounded.
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

// Bounds of a feed. The formats "made for tare" are written by hand or by tare, not recorded: [Lines]
// and [DryRun].
const (
	maxRequests   = 100_000
	maxBroken     = 10        // invalid requests in Feed.Broken
	maxLine       = 1 << 20   // bytes of a line of a log
	maxEntry      = 64 << 20  // bytes of an entry of an archive, or of its content before the entries
	maxBytes      = 256 << 20 // bytes of methods, paths, headers and bodies
	maxLinesBytes = 1 << 30   // replaces maxBytes and maxLine for the formats that are made for tare
)

// Feed holds the requests of a file.
type Feed struct {
	Kind     Kind   // Unknown if the requests are not from a file
	Unpacked string // compression of the file, e.g. gzip; "" if it is not compressed
	Requests []load.Request
	Times    []time.Duration // time of each request since the first; nil if a time is missing
	Broken   []Broken        // the first invalid requests
	Lost     int             // number of all invalid requests
	Skipped  []Skipped       // counts of entries that are not requests to a server
	Secrets  int             // number of secret values that were removed
	Nameless int             // number of omitted headers without a valid name
	More     bool            // the file has more requests than are stored

	// Times of the requests in the order of the file, until sortByTime sets Times.
	times       []time.Duration // times since the first request in the file
	untimed     []untimed       // requests whose time in times is invalid
	fullSeconds bool            // times are in full seconds
	size        int             // bytes of the stored requests
	keepSecrets bool            // secret values are not removed
}

// Skipped counts the entries that are not requests to a server for one reason.
type Skipped struct {
	Why   string
	Count int
}

type untimed struct {
	index  int    // index in Requests
	broken Broken // error to report if the user requires times
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

// In returns a message with the name of the file, the position and the error.
func (b Broken) In(file string) string {
	file = FileName(file)
	if b.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", file, b.Line, b.Why)
	}
	return file + ": " + b.Where + ": " + b.Why
}

// Read reads a file of a format from r; name is the path of the file. Unless keepSecrets is set, it
// removes values with secret names, such as password. Formats that are made for tare keep them. The
// feed is not nil even if there is an error.
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

func (f *Feed) countSkipped(why string) {
	for i := range f.Skipped {
		if f.Skipped[i].Why == why {
			f.Skipped[i].Count++
			return
		}
	}
	f.Skipped = append(f.Skipped, Skipped{why, 1})
}

// recordBroken records an invalid request at line or, if that is 0, at where, e.g. "entry 3".
func (f *Feed) recordBroken(line int, where string, err error) {
	f.addBroken(Broken{line, where, err.Error()})
}

func (f *Feed) addBroken(b Broken) {
	f.Lost++
	if len(f.Broken) < maxBroken {
		const maxMessage = 200 // characters
		b.Why = format.Line(b.Why, maxMessage)
		f.Broken = append(f.Broken, b)
	}
}

// reachesBound reports whether the feed can store no further request, and then sets f.More. Readers
// call it before they add a request.
func (f *Feed) reachesBound() bool {
	limit := maxBytes
	if f.Kind.IsTares() {
		limit = maxLinesBytes
	}
	f.More = f.More || len(f.Requests) == maxRequests || f.size >= limit
	return f.More
}

func (f *Feed) addRequest(q load.Request) {
	f.Requests = append(f.Requests, q)
	f.size += requestSize(q)
}

// addTimed adds a request with its time, or with timeErr. Its position is as for recordBroken.
func (f *Feed) addTimed(q load.Request, c *clock, recorded time.Time, timeErr error, line int, where string) {
	var since time.Duration
	if timeErr == nil {
		since, timeErr = c.sinceFirst(recorded)
	}
	if timeErr != nil {
		f.untimed = append(f.untimed, untimed{len(f.Requests), Broken{line, where, timeErr.Error()}})
	}
	f.addRequest(q)
	f.times = append(f.times, since)
}

func requestSize(q load.Request) int {
	n := len(q.Method) + len(q.Path) + len(q.Body)
	for _, h := range q.Header {
		n += len(h[0]) + len(h[1])
	}
	return n
}

// sortByTime sets f.Times, which begin at 0. If a time is missing, the order stays.
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

// Untimed returns the number of requests without a valid time. If it is not 0, all requests are in the
// order of the file.
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

// spreadSeconds spreads the requests of each second evenly. The sorted times are in full seconds.
func spreadSeconds(times []time.Duration) {
	for start := 0; start < len(times); {
		end := start // index after the last request of this second
		for end < len(times) && times[end] == times[start] {
			end++
		}
		for i := start + 1; i < end; i++ {
			times[i] += time.Second * time.Duration(i-start) / time.Duration(end-start)
		}
		start = end
	}
}

// countSecret reports whether a header or parameter must be removed because it has a secret name.
func (f *Feed) countSecret(name string) bool {
	if f.keepSecrets || !secret.IsName(name) {
		return false
	}
	f.Secrets++
	return true
}

// removeQuerySecrets removes parameters that have secret names.
func (f *Feed) removeQuerySecrets(target string) string {
	if f.keepSecrets {
		return target
	}
	target, n := secret.RemoveFromQuery(target)
	f.Secrets += n
	return target
}

// emptyBodySecrets empties fields that have secret names.
func (f *Feed) emptyBodySecrets(contentType string, body []byte) []byte {
	if f.keepSecrets {
		return body
	}
	body, n := secret.EmptyInBody(contentType, body)
	f.Secrets += n
	return body
}

const maxSpan = 366 * 24 * time.Hour

// clock converts recorded times to times since the first request of a file.
type clock struct {
	first    time.Time
	hasFirst bool
}

// sinceFirst may be negative. More than maxSpan is an error: a load at the recorded times would wait
// that long.
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
	At    []time.Duration // times since the start, not decreasing
	Speed float64         // e.g. 2 for half the time between two requests
}

// Times returns a function that returns the time of the next request at each call. After the last
// request it returns the greatest duration, which means never. The seed is not used.
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

// Length returns the duration of the profile: a millisecond longer than the last time, so that the last
// request is sent.
func (r Recorded) Length() time.Duration {
	if len(r.At) == 0 {
		return 0
	}
	return time.Duration(float64(r.At[len(r.At)-1])/r.Speed) + time.Millisecond
}
