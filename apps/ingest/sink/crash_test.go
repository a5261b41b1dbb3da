package sink

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/atomicfile/atomicfiletest"
)

const path = "d/events.ndjson"

// machine is a disk, and what was kept on it over all of its lives.
type machine struct {
	t    *testing.T
	seed uint64
	disk *atomicfiletest.Disk

	mu    sync.Mutex
	lines map[string]bool // all that Keep was called with; true: acknowledged
}

// life opens a File, lets some callers keep batches until the machine goes off
// or they have had enough, and says how much was acknowledged.
func (m *machine) life(o Options, rng *rand.Rand) (acknowledged int) {
	o.files = m.disk
	f, _, err := Open(path, o)
	if err != nil {
		return 0
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range 1 + rng.IntN(5) {
		wg.Add(1)
		go func(seed uint64) {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(seed, 1))
			for range 12 {
				n := m.call(f, rng)
				mu.Lock()
				acknowledged += n
				mu.Unlock()
			}
		}(rng.Uint64())
	}
	wg.Wait()
	_ = f.Close()
	return acknowledged
}

// call keeps a batch of one to four lines that occur nowhere else.
func (m *machine) call(f *File, rng *rand.Rand) int {
	var batch []byte
	var lines []string
	m.mu.Lock()
	for range 1 + rng.IntN(4) {
		line := fmt.Sprintf("%d:%s", len(m.lines), strings.Repeat("x", rng.IntN(150)))
		m.lines[line] = false
		lines = append(lines, line)
		batch = append(append(batch, line...), '\n')
	}
	m.mu.Unlock()
	if f.Keep(context.Background(), batch, len(lines)) != nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, line := range lines {
		m.lines[line] = true
	}
	return len(lines)
}

// look opens the File a last time, and counts all lines in all files.
func (m *machine) look(o Options) {
	m.t.Helper()
	m.disk.Left, m.disk.Fails = -1, 0
	o.files = m.disk
	f, _, err := Open(path, o)
	if err != nil {
		m.t.Fatalf("seed %d: %v", m.seed, err)
	}
	if err := f.Close(); err != nil {
		m.t.Fatalf("seed %d: %v", m.seed, err)
	}
	seen := map[string]int{}
	for name, text := range m.disk.Content() {
		if strings.Contains(name, tornMark) {
			m.t.Errorf("seed %d: %s is left", m.seed, name)
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			m.t.Errorf("seed %d: %s ends in a part of a line", m.seed, name)
		}
		for line := range strings.Lines(text) {
			seen[strings.TrimSuffix(line, "\n")]++
		}
	}
	for line, times := range seen {
		if _, known := m.lines[line]; !known {
			m.t.Errorf("seed %d: line %q was never kept", m.seed, line)
		} else if times > 1 {
			m.t.Errorf("seed %d: line %q is there %d times", m.seed, line, times)
		}
	}
	for line, acknowledged := range m.lines {
		if acknowledged && seen[line] == 0 {
			m.t.Errorf("seed %d: line %q was acknowledged and is not there", m.seed, line)
		}
	}
}

// seeds is how many worlds a test tries.
func seeds() uint64 {
	if os.Getenv("TARE_SOAK") != "" {
		return 10000
	}
	return 200
}

// crashes runs machines that go off again and again.
func crashes(t *testing.T, o Options, fails float64, powerCut func(rng *rand.Rand) bool) {
	t.Helper()
	acknowledged, lives, failed := 0, 0, 0
	for seed := range seeds() {
		rng := rand.New(rand.NewPCG(seed, 2))
		o := o
		if rng.IntN(2) == 0 {
			o.Rotate = 200 + rng.Int64N(2000)
		}
		if rng.IntN(2) == 0 {
			o.Now = func() time.Time { return time.Unix(1e9, 0) }
		}
		m := &machine{t: t, seed: seed, disk: atomicfiletest.NewDisk(seed), lines: map[string]bool{}}
		for range 1 + rng.IntN(4) {
			m.disk.Left, m.disk.Fails = rng.IntN(80), fails*float64(rng.IntN(3))
			acknowledged += m.life(o, rng)
			lives++
			failed += m.disk.Failed
			m.disk = m.disk.Off(rng.Uint64(), powerCut(rng))
		}
		if m.look(o); t.Failed() {
			return
		}
	}
	t.Logf("%d operations failed and %d machines went off: none of %d acknowledged lines was lost", failed, lives, acknowledged)
	if acknowledged < 2*lives {
		t.Errorf("only %d lines were acknowledged in %d lives: nothing is shown by that", acknowledged, lives)
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
