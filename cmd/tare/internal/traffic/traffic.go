// Package traffic reads requests from files: access logs, HTTP archives (HAR), OpenAPI
// documents, and lines with a request each. It recognises them by their content. Files may
// be of any length: what is kept of them is bounded, and what cannot be read is counted.
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

// Bounds of what is kept.
const (
	mostRequests = 100_000
	mostBroken   = 10        // that are named, before they are only counted
	mostLine     = 1 << 20   // bytes of a line of a log
	mostEntry    = 64 << 20  // bytes of an entry of an archive, or of what stands beside the entries
	mostKept     = 256 << 20 // bytes of methods, paths, headers and bodies
	mostLines    = 1 << 30   // the same of a request on each line, and bytes of a line
)

// Feed is the requests of a file.
type Feed struct {
	Kind     Kind   // Unknown if the requests come from no file
	Unpacked string // what was undone to read the file, e.g. gzip
	Requests []load.Request
	Times    []time.Duration // of each, since the first; nil if one of them has none
	Broken   []Broken        // the first ten that cannot be sent
	Lost     int             // all that cannot be sent
	Skipped  []Skipped       // what is no request to a server
	Secrets  int             // secret values that were held back
	More     bool            // the file holds more requests than are kept

	times   []time.Duration // of each request, since the first in the file
	untimed []untimed       // requests whose time in times means nothing
	seconds bool            // times are in full seconds
	kept    int             // bytes
	secrets bool            // nothing is held back
}

// Skipped counts entries that are no requests to a server, for one reason.
type Skipped struct {
	Why   string
	Count int
}

// untimed is a request without a usable time: the index among the requests, and what
// Broken says of it if times are required.
type untimed struct {
	index int
	why   Broken
}

// Broken is a request that cannot be sent.
type Broken struct {
	Line  int    // of the file; zero: Where names it
	Where string // entry 3, GET /users
	Why   string
}

// FileName returns how messages name a file: - is stdin.
func FileName(file string) string {
	if file == "-" {
		return "stdin"
	}
	return file
}

// In says where it stands in a file of that name, and what is wrong.
func (b Broken) In(file string) string {
	file = FileName(file)
	if b.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", file, b.Line, b.Why)
	}
	return file + ": " + b.Where + ": " + b.Why
}

// Read reads the text called name, which is of a kind. Values with secret names are
// held back, unless secrets is set or kind is Lines: these were written for tare.
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
		err = f.readHAR(&parcel{r: r, most: mostEntry})
	case OpenAPI:
		err = f.readOpenAPI(name, r)
	default:
		err = errors.New("it has none of the formats")
	}
	f.order()
	return f, err
}

// skip counts an entry that is no request to a server.
func (f *Feed) skip(why string) {
	for i := range f.Skipped {
		if f.Skipped[i].Why == why {
			f.Skipped[i].Count++
			return
		}
	}
	f.Skipped = append(f.Skipped, Skipped{why, 1})
}

// broken puts down what cannot be sent: at a line of the file, or else at what
// where names.
func (f *Feed) broken(line int, where string, err error) {
	f.addBroken(Broken{line, where, err.Error()})
}

func (f *Feed) addBroken(b Broken) {
	if f.Lost++; len(f.Broken) < mostBroken {
		b.Why = format.Line(b.Why, 200)
		f.Broken = append(f.Broken, b)
	}
}

// full reports whether no more is kept.
func (f *Feed) full() bool {
	most := mostKept
	if f.Kind == Lines {
		most = mostLines
	}
	f.More = f.More || len(f.Requests) == mostRequests || f.kept >= most
	return f.More
}

// keep keeps a request.
func (f *Feed) keep(q load.Request) {
	f.Requests = append(f.Requests, q)
	f.kept += length(q)
}

// keepTimed keeps a request that was recorded at a time, or whose time cannot be read
// for the reason unread. line and where are its place, as for broken.
func (f *Feed) keepTimed(q load.Request, c *clock, at time.Time, unread error, line int, where string) {
	var since time.Duration
	if unread == nil {
		since, unread = c.since(at)
	}
	if unread != nil {
		f.untimed = append(f.untimed, untimed{len(f.Requests), Broken{line, where, unread.Error()}})
	}
	f.keep(q)
	f.times = append(f.times, since)
}

// length is how many bytes a request keeps.
func length(q load.Request) int {
	n := len(q.Method) + len(q.Path) + len(q.Body)
	for _, h := range q.Header {
		n += len(h[0]) + len(h[1])
	}
	return n
}

// order puts requests in the order of their times, which then begin at zero. If one of
// them has no time, they stay in the order of the file.
func (f *Feed) order() {
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
		spread(times)
	}
	f.Requests, f.Times, f.times = requests, times, nil
}

// RequireTimes leaves out the requests without a time, as if they could not be sent.
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
		f.order()
	}
}

// spread spreads the requests of one second over it: times, which never decrease, have
// no more.
func spread(times []time.Duration) {
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

// holdsBack reports whether the value of a header or parameter is held back because of
// its name, and counts it.
func (f *Feed) holdsBack(name string) bool {
	if f.secrets || !secret.IsName(name) {
		return false
	}
	f.Secrets++
	return true
}

// plainQuery returns a path or URL without the parameters that are held back.
func (f *Feed) plainQuery(target string) string {
	if f.secrets {
		return target
	}
	target, n := secret.RemoveFromQuery(target)
	f.Secrets += n
	return target
}

// plainBody returns a body of a content type without the values that are held back.
func (f *Feed) plainBody(kind string, body []byte) []byte {
	if f.secrets {
		return body
	}
	body, n := secret.EmptyInBody(kind, body)
	f.Secrets += n
	return body
}

// mostApart is how long a recording may take.
const mostApart = 366 * 24 * time.Hour

// clock is the time of a recording.
type clock struct {
	first time.Time // of its first request
	runs  bool
}

// since is the time from the first request to one that was sent at a time. It fails if
// that is more than a year, which would be waited for.
func (c *clock) since(at time.Time) (time.Duration, error) {
	if at.Unix() < 0 {
		return 0, fmt.Errorf("its time is before 1970: %s", at.Format(time.RFC3339))
	}
	if !c.runs {
		c.first, c.runs = at, true
	}
	d := at.Sub(c.first)
	if d < -mostApart || d > mostApart {
		return 0, fmt.Errorf("its time is more than a year from that of the first, %s: %s", c.first.Format(time.RFC3339), at.Format(time.RFC3339))
	}
	return d, nil
}

// Recorded is a profile of recorded times, so many times as fast.
type Recorded struct {
	At    []time.Duration // never decreasing
	Speed float64
}

// Times yields them; the seed changes nothing.
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

// Mean is the mean rate over the first d.
func (r Recorded) Mean(d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	n, _ := slices.BinarySearch(r.At, time.Duration(float64(d)*r.Speed))
	return float64(n) / d.Seconds()
}

// String says what it is.
func (r Recorded) String() string { return fmt.Sprintf("as recorded, ×%g", r.Speed) }

// Length is how long it takes.
func (r Recorded) Length() time.Duration {
	if len(r.At) == 0 {
		return 0
	}
	return time.Duration(float64(r.At[len(r.At)-1])/r.Speed) + time.Millisecond
}
