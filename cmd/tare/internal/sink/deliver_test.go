package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tarebench/tare/apps/ingest/spool"
	"github.com/tarebench/tare/internal/assert"
)

// rig is a spool whose events a service sends to a scripted destination.
type rig struct {
	t       *testing.T
	dir     string
	spool   *spool.Spool
	service *Service
	log     bytes.Buffer
}

func newRig(t *testing.T, s Sink, trust bool) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	sp, _, err := spool.Open(r.dir, spool.Options{Now: time.Now})
	assert.NoError(t, "open", err)
	r.spool = sp
	r.start(s, trust)
	return r
}

func (r *rig) start(s Sink, trust bool) {
	r.t.Helper()
	service, err := Start(Config{
		Dir: r.dir, Sinks: []Named{{Name: "s", Limits: Limits{Events: 100, Bytes: 1 << 20, Age: 10 * time.Millisecond}, Sink: s, Trust: trust}}, Dead: 1 << 20,
		Poll: 10 * time.Millisecond, Backoff: Backoff{100 * time.Millisecond, 30 * time.Second},
		Log: slog.New(slog.NewTextHandler(&r.log, nil)), Now: time.Now,
	})
	assert.NoError(r.t, "start", err)
	r.service = service
}

func (r *rig) keep(lines ...string) {
	r.t.Helper()
	assert.NoError(r.t, "keep", r.spool.Keep(r.t.Context(), []byte(strings.Join(lines, "\n")+"\n"), len(lines)))
}

// stop ends the service within limit, as a process is ended; the spool stays.
func (r *rig) stop(limit time.Duration) (left uint64) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	left, err := r.service.Stop(ctx)
	assert.NoError(r.t, "stop", err)
	return left
}

func (r *rig) cursor() spool.Cursor { return r.spool.Status().Cursors[0] }

// dead returns the file of dead letters.
func (r *rig) dead() string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, "s.dead.ndjson"))
	assert.NoError(r.t, "read", err)
	return string(text)
}

// choosy is a destination that rejects a complete request if takes is false for one of its events, as
// servers do.
type choosy struct {
	scripted
	takes    func(line string) bool
	requests int
}

func (c *choosy) Send(_ context.Context, b Batch) (Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	for _, e := range b.Events {
		if !c.takes(string(e.Line)) {
			return Result{}, &Refused{"answered 400: The plain HTTP request was sent to HTTPS port"}
		}
	}
	for _, e := range b.Events {
		c.lines = append(c.lines, string(e.Line))
	}
	return Result{}, nil
}

// numbered returns n different lines that begin with a name.
func numbered(name string, n int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprint(name, i))
	}
	return lines
}

// A destination that rejects everything, such as a wrong address, loses no event: even
// after ten minutes none is dead. The service is not ready after ten seconds, and all
// events arrive once the destination accepts them.
func TestDestinationThatNeverAccepts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		right := false
		far := &choosy{takes: func(string) bool { return right }}
		r := newRig(t, far, false)
		lines := numbered("event", 300)
		for i := 0; i < len(lines); i += 30 {
			r.keep(lines[i : i+30]...)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(9 * time.Second)
		if c := r.cursor(); !c.Held || c.Dead != 0 || c.Sent != 0 {
			t.Errorf("after ten seconds: %+v", c)
		}
		time.Sleep(10 * time.Minute)
		if c := r.cursor(); !c.Held || c.Dead != 0 || r.dead() != "" {
			t.Errorf("after ten minutes: %+v", c)
		}
		if far.requests > 10_000 {
			t.Errorf("it was sent %d requests", far.requests)
		}
		assert.Contains(t, "log", r.log.String(), "The plain HTTP request was sent to HTTPS port")
		right = true
		time.Sleep(35 * time.Second)
		c := r.cursor()
		assert.Equal(t, "sent", c.Sent, 300)
		assert.Equal(t, "held", c.Held, false)
		assert.Equal(t, "dead", c.Dead, 0)
		assert.Slices(t, "arrived", far.lines, lines)
		assert.NoError(t, "close", r.spool.Close())
		assert.Equal(t, "left", r.stop(time.Minute), 0)
	})
}

// A batch is also held back if the destination rejects all of it after it has accepted
// events before. With hold=off its events are dead.
func TestBatchThatIsRefusedAlike(t *testing.T) {
	for _, trust := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			broken := false
			far := &choosy{takes: func(string) bool { return !broken }}
			r := newRig(t, far, trust)
			r.keep("good")
			time.Sleep(time.Second)
			broken = true
			r.keep(numbered("event", 40)...)
			time.Sleep(time.Hour)
			c := r.cursor()
			assert.Equal(t, "held", c.Held, !trust)
			assert.Equal(t, "dead", c.Dead, map[bool]uint64{true: 40}[trust])
			broken = false
			r.keep("after")
			time.Sleep(time.Minute)
			assert.Equal(t, "held", r.cursor().Held, false)
			assert.Equal(t, "arrived", len(far.lines), map[bool]int{false: 42, true: 2}[trust])
			assert.NoError(t, "close", r.spool.Close())
			assert.Equal(t, "left", r.stop(time.Minute), 0)
		})
	}
}

// A lone event that is rejected waits for the next event, which shows whether the first
// one is poison. Until then the service stays ready, so that it accepts the next one.
func TestLonePoisonWaitsForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &choosy{takes: func(line string) bool { return !strings.HasPrefix(line, "poison") }}
		r := newRig(t, far, false)
		r.keep("good")
		time.Sleep(time.Second)
		r.keep("poison")
		time.Sleep(10 * time.Minute)
		c := r.cursor()
		assert.Equal(t, "dead", c.Dead, 0)
		assert.Equal(t, "held", c.Held, false)
		r.keep("after")
		time.Sleep(35 * time.Second)
		c = r.cursor()
		assert.Equal(t, "dead", c.Dead, 1)
		assert.Equal(t, "sent", c.Sent, 2)
		assert.Equal(t, "letters", strings.Count(r.dead(), "poison"), 1)

		// More poison events than the first pass tries, before a good one.
		r.keep(append(numbered("poison", 50), "last")...)
		time.Sleep(5 * time.Minute)
		c = r.cursor()
		assert.Equal(t, "dead", c.Dead, 51)
		assert.Equal(t, "sent", c.Sent, 3)
		assert.Slices(t, "arrived", far.lines, []string{"good", "after", "last"})
		assert.NoError(t, "close", r.spool.Close())
		assert.Equal(t, "left", r.stop(time.Minute), 0)
	})
}

// An event that fails with an error inside the server, while others of its batch are
// accepted, is sent again for a quarter of an hour. Then it is dead.
func TestAilingItemIsGivenUp(t *testing.T) {
	for _, takesOthers := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			far := &ailing{takesOthers: takesOthers}
			r := newRig(t, far, false)
			r.keep("a", "bad", "c")
			time.Sleep(ailingTime - time.Minute)
			assert.Equal(t, "dead before its time", r.cursor().Dead, 0)
			time.Sleep(2 * time.Minute)
			c := r.cursor()
			want := map[bool]uint64{true: 1}[takesOthers]
			assert.Equal(t, "dead", c.Dead, want)
			assert.Equal(t, "held", c.Held, !takesOthers)
			if takesOthers {
				assert.Contains(t, "letter", r.dead(), `while others were: an item has 500 t: r","text":"bad"`)
				assert.Equal(t, "sent", c.Sent, 2)
			}
			assert.NoError(t, "close", r.spool.Close())
			r.stop(time.Second)
		})
	}
}

// ailing is a destination that fails with 500 on the line "bad", or on all lines unless takesOthers is set.
type ailing struct {
	scripted
	takesOthers bool
}

func (a *ailing) Send(_ context.Context, b Batch) (result Result, err error) {
	for i, e := range b.Events {
		if string(e.Line) == "bad" || !a.takesOthers {
			result.Again = append(result.Again, i)
		}
	}
	result.Why, result.Ails = "an item has 500 t: r", true
	return result, nil
}

// If a process is killed while a batch is sent in parts, only the parts that the
// destination does not have are sent again.
func TestHalvedBatchAfterAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &choosy{takes: func(line string) bool { return line != "poison" }}
		stuck := &stops{choosy: far, away: func(b Batch) bool { return string(b.Events[0].Line) == "e" }}
		r := newRig(t, stuck, false)
		r.keep("a", "b", "c", "poison", "e", "f", "g", "h")
		time.Sleep(time.Second)
		assert.Slices(t, "arrived before", far.lines, []string{"a", "b", "c"})
		assert.Equal(t, "left", r.stop(time.Second), 4)
		assert.Equal(t, "dead", r.cursor().Dead, 1)

		stuck.away = func(Batch) bool { return false }
		r.start(stuck, false)
		time.Sleep(time.Second)
		assert.Slices(t, "arrived", far.lines, []string{"a", "b", "c", "e", "f", "g", "h"})
		c := r.cursor()
		assert.Equal(t, "sent", c.Sent, 7)
		assert.Equal(t, "dead", c.Dead, 1)
		assert.NoError(t, "close", r.spool.Close())
		assert.Equal(t, "left", r.stop(time.Minute), 0)
	})
}

// stops is a destination that cannot be reached for the batches for which away is true.
type stops struct {
	*choosy
	away func(Batch) bool
}

func (s *stops) Send(ctx context.Context, b Batch) (Result, error) {
	if s.away(b) {
		return Result{}, errors.New("connection refused")
	}
	return s.choosy.Send(ctx, b)
}
