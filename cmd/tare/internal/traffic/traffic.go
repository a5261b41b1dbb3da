// Package traffic reads requests that were recorded or described elsewhere: access
// logs, HTTP archives (HAR) and OpenAPI documents. Files may be of any length: what
// is kept of them is bounded, and what cannot be read is counted.
package traffic

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/openapi"
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
)

// Feed is what a file holds.
type Feed struct {
	Requests []load.Request
	Times    []time.Duration // of each, since the first; nil: they have none
	Broken   []Broken        // the first ten that cannot be sent
	Lost     int             // all that cannot be sent
	Secrets  int             // secret values that were held back
	More     bool            // the file holds more requests than are kept

	kept    int  // bytes
	secrets bool // nothing is held back
}

// Broken is a request that cannot be sent.
type Broken struct {
	Line  int    // of the file; zero: Where names it
	Where string // entry 3, GET /users
	Why   string
}

// In says where it stands in a file of that name, and what is wrong.
func (b Broken) In(file string) string {
	if file == "-" {
		file = "stdin"
	}
	if b.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", file, b.Line, b.Why)
	}
	return file + ": " + b.Where + ": " + b.Why
}

// Kind is what a file is.
type Kind int

// Kinds of files.
const (
	Unknown Kind = iota
	AccessLog
	HAR
	OpenAPI
)

// beginSize is how many bytes of a file its kind is read from, if it has so many.
const beginSize = 4 << 10

// Sniff says what a file is: by its name, or by how it begins.
func Sniff(name string, begin []byte) Kind {
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case ext == ".har":
		return HAR
	case ext == ".yaml", ext == ".yml", openapi.IsDocument(begin, len(begin) >= beginSize):
		return OpenAPI
	}
	for line := range bytes.Lines(begin) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if _, _, err := readLine(string(line)); err == nil {
				return AccessLog
			}
			break
		}
	}
	if filepath.Ext(name) == ".log" {
		return AccessLog
	}
	return Unknown
}

// Read reads the file called name, which is of a kind. Values with secret names are
// held back, unless secrets is set.
func Read(kind Kind, name string, r io.Reader, secrets bool) (*Feed, error) {
	f := &Feed{secrets: secrets}
	var err error
	switch kind {
	case AccessLog:
		err = f.readLog(r)
	case HAR:
		err = f.readHAR(&parcel{r: r, most: mostEntry})
	case OpenAPI:
		err = f.readOpenAPI(name, r)
	default:
		err = fmt.Errorf("neither an access log, nor a HAR, nor an OpenAPI document")
	}
	f.order()
	return f, err
}

// broken puts down what cannot be sent: at a line of the file, or else at what
// where names.
func (f *Feed) broken(line int, where string, err error) {
	if f.Lost++; len(f.Broken) < mostBroken {
		f.Broken = append(f.Broken, Broken{line, where, format.Line(err.Error(), 200)})
	}
}

// full reports whether no more is kept.
func (f *Feed) full() bool {
	f.More = f.More || len(f.Requests) == mostRequests || f.kept >= mostKept
	return f.More
}

// keep keeps a request.
func (f *Feed) keep(q load.Request) {
	f.Requests = append(f.Requests, q)
	f.kept += length(q)
}

// length is how many bytes a request keeps.
func length(q load.Request) int {
	n := len(q.Method) + len(q.Path) + len(q.Body)
	for _, h := range q.Header {
		n += len(h[0]) + len(h[1])
	}
	return n
}

// order puts requests in the order of their times, which then begin at zero.
func (f *Feed) order() {
	if len(f.Times) != len(f.Requests) || len(f.Times) == 0 {
		f.Times = nil
		return
	}
	at := make([]int, len(f.Times))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(f.Times[a], f.Times[b]) })
	requests, times := make([]load.Request, len(at)), make([]time.Duration, len(at))
	for i, k := range at {
		requests[i], times[i] = f.Requests[k], f.Times[k]-f.Times[at[0]]
	}
	f.Requests, f.Times = requests, times
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

// pathOf is the path and query of a URL, whatever its host.
func pathOf(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	path := u.RequestURI()
	if !strings.HasPrefix(path, "/") {
		return "", fmt.Errorf("%q has no path", text)
	}
	return path, nil
}

// mostApart is how long a recording may take.
const mostApart = 366 * 24 * time.Hour

// clock is the time of a recording.
type clock struct {
	first time.Time // of its first request
	runs  bool
}

// since is the time from the first request to one that was sent at a time. What is too
// far away is refused: it would be waited for.
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

// readLog reads an access log in the common or the combined format.
func (f *Feed) readLog(r io.Reader) error {
	b := bufio.NewReaderSize(r, 64<<10)
	var recorded clock
	same := map[string]string{} // methods and paths, each kept once
	for n := 1; ; n++ {
		line, long, err := lineOf(b)
		if errors.Is(err, io.EOF) {
			spread(f.Times)
			return nil
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		if f.full() {
			spread(f.Times)
			return nil
		}
		q, at, err := readLine(line)
		if long {
			err = fmt.Errorf("longer than %d bytes", mostLine)
		}
		var since time.Duration
		if err == nil {
			since, err = recorded.since(at)
		}
		if err != nil {
			f.broken(n, "", err)
			continue
		}
		q.Path = f.plainQuery(q.Path)
		for _, text := range []*string{&q.Method, &q.Path} {
			known, ok := same[*text]
			if !ok {
				known = strings.Clone(*text)
				same[known] = known
				f.kept += len(known)
			}
			*text = known
		}
		f.Requests, f.Times = append(f.Requests, q), append(f.Times, since)
	}
}

// lineOf reads a line; of one that is too long, only its beginning.
func lineOf(b *bufio.Reader) (line string, long bool, err error) {
	var out []byte
	for {
		piece, err := b.ReadSlice('\n')
		if out = append(out, piece[:min(len(piece), max(0, mostLine-len(out)))]...); errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == io.EOF && len(out) > 0 {
			err = nil
		}
		return string(out), len(out) == mostLine, err
	}
}

// spread spreads the requests of one second over it: logs have no more.
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

// readLine reads a line of the common log format; what follows is not looked at:
// host ident user [time] "METHOD target HTTP/1.1" status bytes.
func readLine(line string) (load.Request, time.Time, error) {
	none := load.Request{}
	_, rest, ok := strings.Cut(line, " [")
	stamp, rest, closed := strings.Cut(rest, "] \"")
	if !ok || !closed {
		return none, time.Time{}, fmt.Errorf("not host ident user [time] \"request\"")
	}
	at, err := time.Parse("02/Jan/2006:15:04:05 -0700", stamp)
	if err != nil {
		return none, at, fmt.Errorf("the time %q is not one like 02/Jan/2006:15:04:05 -0700", stamp)
	}
	request, after, ok := strings.Cut(rest, "\"")
	words := strings.Fields(request)
	if !ok || len(words) != 3 || !strings.HasPrefix(words[2], "HTTP/") {
		return none, at, fmt.Errorf("%q is not a request line", request)
	}
	if status := strings.Fields(after); len(status) < 2 || len(status[0]) != 3 {
		return none, at, fmt.Errorf("no status behind the request")
	}
	path, err := pathOf(words[1])
	if err == nil {
		err = load.CheckRequest(load.Request{Method: words[0], Path: path})
	}
	return load.Request{Method: words[0], Path: path}, at, err
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
