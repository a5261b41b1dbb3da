package spool

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/internal/atomicfile/atomicfiletest"
)

// world is a disk, what was kept on it over all of its lives, and a far side,
// which never goes away.
type world struct {
	t    *testing.T
	seed uint64
	disk *atomicfiletest.Disk

	mu   sync.Mutex
	kept map[string]bool // all that Keep was called with; true: acknowledged
	far  map[string]int  // how often each has arrived
	ids  map[string]string
	lost uint64
}

// life lets some callers keep batches and a reader send them, until the machine
// goes off or they have had enough.
func (w *world) life(o Options, rng *rand.Rand) {
	o.files, o.Now = w.disk, (&clock{at(0)}).Now
	s, _, err := Open(dir, o)
	if err != nil {
		return
	}
	all, err := openReaders(w.disk, dir, []string{"a"}, o.Fsync, func(d Damage) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lost += d.Lost
	})
	if err != nil {
		_ = s.Close()
		return
	}
	var callers, reader sync.WaitGroup
	ended := make(chan struct{})
	reader.Add(1)
	go func(seed uint64) {
		defer reader.Done()
		w.send(all, rand.New(rand.NewPCG(seed, 3)), ended)
	}(rng.Uint64())
	for range 1 + rng.IntN(4) {
		callers.Add(1)
		go func(seed uint64) {
			defer callers.Done()
			rng := rand.New(rand.NewPCG(seed, 1))
			for range 12 {
				w.call(s, rng)
			}
		}(rng.Uint64())
	}
	callers.Wait()
	close(ended)
	reader.Wait()
	_ = s.Close()
	_ = all.Close()
}

// call keeps a batch of one to four lines that occur nowhere else.
func (w *world) call(s *Spool, rng *rand.Rand) {
	var batch []byte
	var lines []string
	w.mu.Lock()
	for range 1 + rng.IntN(4) {
		line := fmt.Sprintf("%d:%s", len(w.kept), strings.Repeat("x", rng.IntN(150)))
		w.kept[line] = false
		lines = append(lines, line)
		batch = append(append(batch, line...), '\n')
	}
	w.mu.Unlock()
	if s.Keep(context.Background(), batch, len(lines)) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range lines {
		w.kept[line] = true
	}
}

// send sends batches until there are none after the callers have ended. An event
// has one name, and no name is of two events: that is what a far side goes by.
func (w *world) send(all *Readers, rng *rand.Rand, ended <-chan struct{}) {
	r := all.All()[0]
	for tries := 0; tries < 50; {
		var b Batch
		most := 1 + rng.IntN(8)
		if pending := r.Pending(); pending > r.state.Position {
			most = int(pending - r.state.Position)
		}
		if r.Take(&b, most, 1<<20) != nil || b.Len() == 0 {
			select {
			case <-ended:
				tries++
			default:
				time.Sleep(10 * time.Microsecond)
			}
			continue
		}
		_ = r.Begin(&b)
		w.mu.Lock()
		for i, line := range strings.Split(strings.TrimSuffix(string(b.Lines), "\n"), "\n") {
			name := fmt.Sprint(b.ID, b.From+uint64(i))
			if other, known := w.ids[name]; known && other != line {
				w.t.Errorf("seed %d: %q and %q have one name", w.seed, line, other)
			}
			w.ids[name] = line
			w.far[line]++
		}
		w.mu.Unlock()
		if rng.IntN(4) > 0 {
			_ = r.Done(&b, 0)
		} else {
			r.state.Position = b.To // the cursor is not written: a duplicate after a crash
		}
		_ = all.Free(r)
	}
}

// look sends what is left, and compares.
func (w *world) look(o Options) {
	w.t.Helper()
	w.disk.Left, w.disk.Fails = -1, 0
	w.life(o, rand.New(rand.NewPCG(w.seed, 4)))
	for line := range w.far {
		if _, known := w.kept[line]; !known {
			w.t.Errorf("seed %d: %q was never kept", w.seed, line)
		}
	}
	for line, acknowledged := range w.kept {
		if acknowledged && w.far[line] == 0 {
			w.t.Errorf("seed %d: %q was acknowledged and has not arrived", w.seed, line)
		}
	}
	if w.lost > 0 {
		w.t.Errorf("seed %d: %d events are reported as lost", w.seed, w.lost)
	}
}

// crashes runs machines that go off again and again.
func crashes(t *testing.T, o Options, fails float64, powerCut func(rng *rand.Rand) bool) {
	t.Helper()
	seeds := uint64(100)
	if os.Getenv("TARE_SOAK") != "" {
		seeds = 1000
	}
	acknowledged, lives, failed := 0, 0, 0
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 2))
		o := o
		if rng.IntN(2) == 0 {
			o.Segment = 200 + rng.Int64N(2000)
		}
		w := &world{t: t, seed: seed, disk: atomicfiletest.NewDisk(seed), kept: map[string]bool{}, far: map[string]int{}, ids: map[string]string{}}
		for range 1 + rng.IntN(4) {
			w.disk.Left, w.disk.Fails = rng.IntN(300), fails*float64(rng.IntN(3))
			w.life(o, rng)
			lives++
			failed += w.disk.Failed
			w.disk = w.disk.Off(rng.Uint64(), powerCut(rng))
		}
		if w.look(o); t.Failed() {
			return
		}
		for _, ok := range w.kept {
			if ok {
				acknowledged++
			}
		}
	}
	t.Logf("%d operations failed and %d machines went off: none of %d acknowledged lines was lost", failed, lives, acknowledged)
	if acknowledged < 2*lives {
		t.Errorf("only %d lines were acknowledged in %d lives: nothing is shown by that", acknowledged, lives)
	}
}

// A power cut takes a cursor back by one batch at most, and that batch is sent again
// with the same events.
func TestCursorAfterAPowerCut(t *testing.T) {
	for seed := range uint64(100) {
		r := newRig(t, Options{Fsync: true})
		var last Batch
		for i := range 50 {
			r.mustKeep(fmt.Sprint(i), "x", "y")
			last = Batch{}
			assert.NoError(t, "take", r.reader.Take(&last, 3, 1000))
			assert.NoError(t, "begin", r.reader.Begin(&last))
			assert.NoError(t, "done", r.reader.Done(&last, 0))
		}
		all, err := openReaders(r.disk.Off(seed, true), dir, []string{"a"}, true, func(d Damage) { t.Error(d) })
		assert.NoError(t, "open", err)
		c := all.All()[0].Cursor()
		if c.Position != last.From && c.Position != last.To || c.Pending != last.To {
			t.Errorf("seed %d: the cursor is at %d, and %d is pending, of a batch from %d to %d", seed, c.Position, c.Pending, last.From, last.To)
		}
		assert.NoError(t, "close", all.Close())
	}
}

func TestPowerCut(t *testing.T) {
	crashes(t, Options{Fsync: true}, 0, func(*rand.Rand) bool { return true })
}

func TestPowerCutOfFailingDisk(t *testing.T) {
	crashes(t, Options{Fsync: true}, 0.05, func(*rand.Rand) bool { return true })
}

func TestPowerCutOrKill(t *testing.T) {
	crashes(t, Options{Fsync: true}, 0, func(rng *rand.Rand) bool { return rng.IntN(2) == 0 })
}

func TestKill(t *testing.T) {
	crashes(t, Options{}, 0, func(*rand.Rand) bool { return false })
}

func TestKillWithFailingDisk(t *testing.T) {
	crashes(t, Options{}, 0.05, func(*rand.Rand) bool { return false })
}
