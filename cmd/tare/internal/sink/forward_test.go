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
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tarebench/tare/apps/ingest/spool"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/atomicfile/atomicfiletest"
)

// scripted is a sink that answers each Send with the next of its steps. A nil step, and every Send
// after the last step, accepts the batch.
type scripted struct {
	mu    sync.Mutex
	steps []func(Batch) (Result, error)
	names []string
	lines []string
}

func (s *scripted) Send(_ context.Context, b Batch) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = append(s.names, b.Name()[33:])
	if len(s.steps) > 0 {
		step := s.steps[0]
		s.steps = s.steps[1:]
		if step != nil {
			return step(b)
		}
	}
	for _, e := range b.Events {
		s.lines = append(s.lines, string(e.Line))
	}
	return Result{}, nil
}

func (*scripted) Promise() Promise { return Promise{} }
func (*scripted) Close() error     { return nil }

func fails(err error) func(Batch) (Result, error) {
	return func(Batch) (Result, error) { return Result{}, err }
}

// run keeps lines in a spool in dir and sends them to s until nothing is left or limit has passed.
// It returns the log and the number of events left.
func run(t *testing.T, dir string, s *scripted, dead int64, limit time.Duration, lines ...string) (log string, left uint64) {
	t.Helper()
	sp, _, err := spool.Open(dir, spool.Options{Now: time.Now})
	assert.NoError(t, "open", err)
	for _, line := range lines {
		assert.NoError(t, "keep", sp.Keep(context.Background(), []byte(line+"\n"), 1))
	}
	assert.NoError(t, "close", sp.Close())
	var out bytes.Buffer
	service, err := Start(Config{
		Dir: dir, Sinks: []Named{{Name: "s", Limits: Limits{Events: 4, Bytes: 1 << 20}, Sink: s}}, Dead: dead,
		Poll: time.Millisecond, Backoff: Backoff{time.Millisecond, 4 * time.Millisecond},
		Log: slog.New(slog.NewTextHandler(&out, nil)), Now: func() time.Time { return time.Unix(0, 0) },
	})
	assert.NoError(t, "start", err)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	left, err = service.Stop(ctx)
	assert.NoError(t, "stop", err)
	return out.String(), left
}

func TestFailuresAreLoggedOnceWithTheirCause(t *testing.T) {
	down := fails(errors.New("connection refused"))
	s := &scripted{steps: []func(Batch) (Result, error){down, down, down}}
	log, left := run(t, t.TempDir(), s, 1000, time.Minute, "1", "2")
	assert.Equal(t, "left", left, uint64(0))
	assert.Equal(t, "sent", strings.Join(s.lines, " "), "1 2")
	assert.Equal(t, "names", fmt.Sprint(s.names), "[0-2-2 0-2-2 0-2-2 0-2-2]")
	assert.Equal(t, "failures logged", strings.Count(log, "connection refused"), 1)
	assert.Contains(t, "log", log, "it works again")
}

// A batch that is refused is halved until the event that caused the refusal is found.
func TestRefusedBatchIsHalved(t *testing.T) {
	dir := t.TempDir()
	refuse := func(b Batch) (Result, error) {
		for _, e := range b.Events {
			if string(e.Line) == "bad" {
				return Result{}, &Refused{"no JSON"}
			}
		}
		return Result{}, nil
	}
	s := &scripted{steps: []func(Batch) (Result, error){refuse, nil, refuse, refuse, nil}}
	log, _ := run(t, dir, s, 1000, time.Minute, "1", "2", "bad", "4")
	assert.Equal(t, "names", fmt.Sprint(s.names), "[0-4-4 0-2-2 2-4-2 2-3-1 3-4-1]")
	assert.Equal(t, "sent", strings.Join(s.lines, " "), "1 2 4")
	assert.Contains(t, "log", log, "no JSON")
	text, err := os.ReadFile(filepath.Join(dir, "s.dead.ndjson"))
	assert.NoError(t, "read", err)
	assert.Contains(t, "letter", string(text), `"number":2,"reason":"no JSON","text":"bad"}`)
}

// An event that cannot be written to the dead letters stays in the spool.
func TestFullDeadLettersHoldEventsBack(t *testing.T) {
	dir := t.TempDir()
	refuse := fails(&Refused{"no"})
	s := &scripted{steps: []func(Batch) (Result, error){refuse, nil, refuse}}
	log, left := run(t, dir, s, 10, 20*time.Millisecond, "0", "1")
	assert.Equal(t, "left", left, uint64(1))
	assert.Contains(t, "log", log, "the file of dead letters is full")
	s = &scripted{}
	_, left = run(t, dir, s, 1000, time.Minute)
	assert.Equal(t, "left", left, uint64(0))
	assert.Equal(t, "sent", strings.Join(s.lines, " "), "1")
}

// While the file of dead letters has no room, events that the destination has accepted are not sent
// again.
func TestFullDeadLettersSendNothingAgain(t *testing.T) {
	s := &scripted{}
	takesRest := func(b Batch) (Result, error) {
		for i, e := range b.Events {
			if i != 1 {
				s.lines = append(s.lines, string(e.Line))
			}
		}
		return Result{Dead: []Dead{{Index: 1, Reason: "no"}}}, nil
	}
	for range 10_000 {
		s.steps = append(s.steps, takesRest)
	}
	log, left := run(t, t.TempDir(), s, 10, 20*time.Millisecond, "1", "2", "3")
	assert.Equal(t, "sent", strings.Join(s.lines, " "), "1 3")
	assert.Equal(t, "left", left, uint64(3))
	assert.Contains(t, "log", log, "the file of dead letters is full")
}

func TestEventsForLaterAndRetryAfter(t *testing.T) {
	s := &scripted{steps: []func(Batch) (Result, error){
		func(Batch) (Result, error) {
			return Result{Again: []int{0, 2}, Dead: []Dead{{Index: 1, Reason: "no"}}}, nil
		},
		fails(&Later{errors.New("429"), 30 * time.Millisecond}),
	}}
	begun := time.Now()
	_, left := run(t, t.TempDir(), s, 1000, time.Minute, "1", "2", "3")
	assert.Equal(t, "left", left, uint64(0))
	assert.Equal(t, "sent", strings.Join(s.lines, " "), "1 3")
	assert.Equal(t, "names", fmt.Sprint(s.names), "[0-3-3 0-3-2 0-3-2]")
	if d := time.Since(begun); d < 30*time.Millisecond {
		t.Errorf("it came again after %v", d)
	}
}

// If a process was killed while it wrote a line, the next line starts on a line of its own.
func TestDeadLettersAfterAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d")
	assert.NoError(t, "write", os.WriteFile(path, []byte(`{"torn`), 0o600))
	d, err := OpenDeadLetters(path, 1000, time.Now)
	assert.NoError(t, "open", err)
	assert.NoError(t, "write", d.Write("s", Batch{Events: []Event{{7, []byte(`{"id":"a"}`)}}}, []Dead{{Index: 0, Reason: "no"}}))
	assert.NoError(t, "close", d.Close())
	text, err := os.ReadFile(path)
	assert.NoError(t, "read", err)
	lines := strings.Split(string(text), "\n")
	assert.Equal(t, "lines", len(lines), 3)
	assert.Contains(t, "line", lines[1], `"event":{"id":"a"}`)
}

// A dead event that was written, even the first one, is still in the file after a power cut.
func TestDeadLettersAfterAPowerCut(t *testing.T) {
	for seed := range uint64(20) {
		machine := atomicfiletest.NewDisk(seed)
		d, err := openDeadLetters(machine, "d", 1000, time.Now)
		assert.NoError(t, "open", err)
		assert.NoError(t, "write", d.Write("s", Batch{Events: []Event{{7, []byte(`{"id":"a"}`)}}}, []Dead{{Index: 0, Reason: "no"}}))
		f, err := machine.Off(seed, true).OpenFile("d", atomicfile.ReadOnly)
		assert.NoError(t, "read", err)
		size, err := f.Size()
		assert.NoError(t, "size", err)
		assert.Equal(t, "size", size, d.size)
	}
}

func TestStartWhereItCannot(t *testing.T) {
	_, err := Start(Config{Dir: filepath.Join(t.TempDir(), "none"), Sinks: []Named{{Name: "s", Sink: &scripted{}}}})
	assert.ErrorIs(t, "no directory", err, os.ErrNotExist)
}

// An event that comes after a time without events is sent when it reaches the maximum age or,
// without one, when the spool is next polled.
func TestWhenABatchIsSent(t *testing.T) {
	const poll = 10 * time.Millisecond
	for age, within := range map[time.Duration][2]time.Duration{
		200 * time.Millisecond: {199 * time.Millisecond, 201 * time.Millisecond}, // the spool knows milliseconds
		0:                      {0, maxPollFactor * poll},
	} {
		t.Run(age.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				sp, _, err := spool.Open(dir, spool.Options{Now: time.Now})
				assert.NoError(t, "open", err)
				sent := make(chan time.Time, 1)
				note := func(Batch) (Result, error) { sent <- time.Now(); return Result{}, nil }
				s := &scripted{steps: []func(Batch) (Result, error){note, note, note}}
				service, err := Start(Config{
					Dir: dir, Sinks: []Named{{Name: "s", Limits: Limits{Events: 100, Bytes: 1 << 20, Age: age}, Sink: s}}, Dead: 1000,
					Poll: poll, Backoff: Backoff{poll, poll}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
				})
				assert.NoError(t, "start", err)
				for range 3 {
					time.Sleep(1234 * time.Millisecond)
					came := time.Now()
					assert.NoError(t, "keep", sp.Keep(t.Context(), []byte("1\n"), 1))
					var at time.Time
					select {
					case at = <-sent:
					case <-time.After(time.Second):
						t.Fatal("it is not sent within a second")
					}
					if took := at.Sub(came); took < within[0] || took > within[1] {
						t.Errorf("it is sent %v after it came, not after %v to %v", took, within[0], within[1])
					}
				}
				assert.NoError(t, "close", sp.Close())
				left, err := service.Stop(t.Context())
				assert.NoError(t, "stop", err)
				assert.Equal(t, "left", left, uint64(0))
			})
		})
	}
}
