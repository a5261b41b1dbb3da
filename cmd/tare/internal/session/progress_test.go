package session

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/lab"
)

// screen collects what progress writes.
type screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

// take returns what was written since the last call.
func (s *screen) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.buf.Reset()
	return s.buf.String()
}

// watch plays a study to a progress on a terminal of so many columns; zero is
// no terminal.
func watch(t *testing.T, columns int, env map[string]string, quiet bool, play func(p *Progress, seen *screen)) {
	synctest.Test(t, func(t *testing.T) {
		seen := &screen{}
		p := NewProgress(cmdenv.Env{
			Err: seen, Getenv: func(k string) string { return env[k] },
			Lab: cmdenv.Lab{Terminal: func(any) (int, int, bool) { return columns, 24, columns > 0 }},
		}, quiet)
		defer p.End()
		play(p, seen)
	})
}

func expect(t *testing.T, seen *screen, want ...string) {
	t.Helper()
	if got, want := seen.take(), strings.Join(want, ""); got != want {
		t.Errorf("wrote %q\n want %q", got, want)
	}
}

// Without a terminal there is a line at the start of the rounds and one at most every
// minute; what goes wrong is a line of its own.
func TestPlainProgressIsSparse(t *testing.T) {
	watch(t, 0, nil, false, func(p *Progress, seen *screen) {
		p.Say("measuring s, quick budget")
		p.Begin("s")
		expect(t, seen, "measuring s, quick budget\n")

		p.Event(lab.Event{Phase: "build", Contender: "a"})
		p.Compiling()
		p.Event(lab.Event{Phase: "build", Contender: "a", Message: "a@v1"})
		p.Event(lab.Event{Phase: "build", Contender: "b"})
		p.Compiling()
		expect(t, seen) // just now
		time.Sleep(61 * time.Second)
		expect(t, seen, "s: building b, 60 s\n")
		p.Event(lab.Event{Phase: "build", Contender: "b", Err: errors.New("b/main.go:3:1: no\nsecond line")})
		expect(t, seen, "s: b cannot be built: b/main.go:3:1: no second line\n")
		p.Event(lab.Event{Phase: "build", Contender: "d", Err: fmt.Errorf("d: %w", &lab.NotInstalledError{Programs: []string{"fluentd", "ruby"}})})
		expect(t, seen, "s: d is skipped: d: not installed: fluentd, ruby\n")

		p.Event(lab.Event{Phase: "pilot", Contender: "a"})
		p.Event(lab.Event{Phase: "pilot", Contender: "c", Err: &tare.TrialError{Class: tare.ErrExit, Message: "exit status 3"}})
		expect(t, seen, "s: c is out: exit: exit status 3\n")

		p.Event(lab.Event{Phase: "plan", Rounds: 20, Plan: &tare.Plan{SecondsPerRound: 15, Looks: []int{8, 12, 20}, Stretched: true}})
		expect(t, seen, "s: 20 rounds of 15 s planned, 5 min 0 s, fewer if everything is answered before (the budget was stretched to the fewest rounds that allow a verdict)\n")
		for i := 1; i <= 8; i++ {
			time.Sleep(15100 * time.Millisecond)
			p.Event(lab.Event{Phase: "round", Round: i, Rounds: 20, Elapsed: time.Duration(i) * 15 * time.Second, Left: time.Minute})
		}
		p.Event(lab.Event{Phase: "look", Round: 8, Rounds: 20, Decided: 2, Open: 1})
		expect(t, seen, "s: 3 of 20 rounds, 0:45, at most 1:00 more\n", "s: 7 of 20 rounds, 1:45, at most 1:00 more\n")
		time.Sleep(time.Minute)
		expect(t, seen, "s: 8 of 20 rounds, 2:00, at most 1:00 more; 2 of 3 decided\n")
		p.Event(lab.Event{Phase: "done", Round: 8, Elapsed: 125 * time.Second, Message: lab.Decided})
		expect(t, seen, "s: measured for 2 min 5 s: every question is answered\n")
		time.Sleep(2 * time.Minute)
		expect(t, seen) // nothing goes on
	})
}

// The live line of a study fits into the terminal: the bar goes first, then how much is
// decided, then the ratio. What is routine is not written above it.
func TestLiveLine(t *testing.T) {
	for _, c := range []struct {
		columns int
		want    string
	}{
		{100, "▸    users        ▇▇▇▇▇░░░░░  7/12  1:38, ≤ 1:11 left  grpc 1.3×  9/11 known"},
		{76, "▸    users         7/12  1:38, ≤ 1:11 left  grpc 1.3×  9/11 known"},
		{60, "▸ users  7/12  1:38, ≤ 1:11 left  grpc 1.3×  9/11 known"},
		{50, "▸ users  7/12  1:38, ≤ 1:11 left  grpc 1.3×"},
		{40, "▸ users  7/12  1:38, ≤ 1:11 left"},
	} {
		watch(t, c.columns, map[string]string{"NO_COLOR": "1"}, false, func(p *Progress, seen *screen) {
			p.Begin("users")
			p.Event(lab.Event{Phase: "plan", Rounds: 12})
			p.Event(lab.Event{Phase: "look", Decided: 9, Open: 2})
			seen.take()
			p.Event(lab.Event{Phase: "round", Round: 7, Rounds: 12, Elapsed: 98 * time.Second, Left: 71 * time.Second, Leader: "grpc", Ratio: 1.27})
			expect(t, seen, "\r\x1b[K"+c.want)
		})
	}
	watch(t, 80, map[string]string{"NO_COLOR": "1", "LANG": "C"}, false, func(p *Progress, seen *screen) {
		p.Expect(13)
		p.Begin("users")
		p.Note("kept in a directory") // of several studies, it is in the history
		p.Event(lab.Event{Phase: "pilot", Contender: "grpc"})
		expect(t, seen, "\r\x1b[K>    users        checking the answers of grpc and warming it up\n\x1b[K  0 of 13 studies, 0:00 so far")
	})
}

// The time that is left is never given as none, nor is that of a budget if it is
// stretched.
func TestTimeLeft(t *testing.T) {
	budget := tare.Plan{SecondsPerRound: 2, BudgetSeconds: 60}
	stretched, fixed := budget, budget
	stretched.Stretched, fixed.BudgetSeconds = true, 0
	for _, c := range []struct {
		plan *tare.Plan
		done int
		left time.Duration
		want string
	}{
		{&budget, 3, 20 * time.Second, "at most 20 s"},
		{&budget, 3, 0, "about 14 s"},
		{&budget, 10, 4 * time.Millisecond, "0 s"},
		{&stretched, 3, 5 * time.Second, "about 14 s"},
		{&stretched, 10, 0, "0 s"},
		{&fixed, 9, 0, "about 2 s"},
		{&fixed, 10, 0, "0 s"},
		{nil, 3, time.Minute, "at most 60 s"},
		{nil, 3, 0, "0 s"},
	} {
		words, left := timeLeft(lab.Event{Round: c.done, Rounds: 10, Plan: c.plan, Left: c.left})
		if got := strings.TrimSpace(words + " " + formatSpan(left)); got != c.want {
			t.Errorf("%+v, %d of 10 rounds, %v: %q, want %q", c.plan, c.done, c.left, got, c.want)
		}
	}
}

// A number of rounds that gives no interval is reported before they are measured.
func TestTooFewRoundsAreReported(t *testing.T) {
	for _, c := range []struct {
		rounds, workloads int
		want              string
	}{
		{5, 1, "5 rounds of 1 s planned, 5 s (too few for intervals on 1 workload: that takes 6 rounds)"},
		{6, 1, "6 rounds of 1 s planned, 6 s"},
		{10, 33, "10 rounds of 1 s planned, 10 s (too few for intervals on 33 workloads: that takes 11 rounds)"},
		{11, 33, "11 rounds of 1 s planned, 11 s"},
	} {
		plan := &tare.Plan{SecondsPerRound: 1, Looks: []int{c.rounds}, Slices: make([]tare.Slicing, c.workloads)}
		if got := describePlan(lab.Event{Rounds: c.rounds, Plan: plan}); got != c.want {
			t.Errorf("%d rounds of %d workloads: %q, want %q", c.rounds, c.workloads, got, c.want)
		}
	}
}

func TestLiveProgressOverwritesOneLine(t *testing.T) {
	watch(t, 30, map[string]string{"NO_COLOR": "1"}, false, func(p *Progress, seen *screen) {
		p.Begin("s")
		p.Event(lab.Event{Phase: "build", Contender: "a"})
		expect(t, seen, "\r\x1b[K▸ s preparing a")
		p.Compiling()
		expect(t, seen, "\r\x1b[K▸ s building a")
		time.Sleep(2100 * time.Millisecond)
		expect(t, seen, "\r\x1b[K▸ s building a", "\r\x1b[K▸ s building a  0:02")
		p.Say("a line that stays")
		expect(t, seen, "\r\x1b[K", "s: a line that stays\n", "\r\x1b[K▸ s building a  0:02")
		p.Event(lab.Event{Phase: "pilot", Contender: "a-contender-with-a-long-name"})
		expect(t, seen, "\r\x1b[K▸ s checking the answers of …") // 29 columns: it must not wrap
		p.Pause()
		p.Pause()
		expect(t, seen, "\r\x1b[K")
		time.Sleep(3 * time.Second)
		expect(t, seen)
		p.Fail(errors.New("one line"))
		expect(t, seen, "tare: one line\n")
	})
}

// A panel is drawn over the one before, and leaves nothing of a longer one.
func TestPanel(t *testing.T) {
	watch(t, 40, nil, false, func(p *Progress, seen *screen) {
		two := func(columns, rows int) []string { return []string{fmt.Sprintf("%dx%d", columns, rows), "b"} }
		p.Panel("load", "a line", 0, 0, two)
		expect(t, seen, "\r\x1b[K40x24\n\x1b[Kb")
		p.Panel("load", "a line", 0, 0, two)
		expect(t, seen, "\r\x1b[1A\x1b[K40x24\n\x1b[Kb")
		p.Say("stays")
		expect(t, seen, "\r\x1b[1A\x1b[J", "stays\n", "\r\x1b[K40x24\n\x1b[Kb")
		p.Panel("load", "a line", 0, 0, func(int, int) []string { return []string{"c"} })
		expect(t, seen, "\r\x1b[1A\x1b[Kc\x1b[J")
		p.Pause()
		expect(t, seen, "\r\x1b[K")
	})
	watch(t, 0, nil, false, func(p *Progress, seen *screen) {
		p.Panel("load", "a line", 0, 0, func(int, int) []string { return []string{"c"} })
		expect(t, seen, "a line\n")
	})
}

func TestDumbTerminalsGetPlainLines(t *testing.T) {
	watch(t, 80, map[string]string{"TERM": "dumb"}, false, func(p *Progress, seen *screen) {
		p.Status("lock", "waiting")
		expect(t, seen, "waiting\n")
	})
}

func TestQuietWritesErrorsOnly(t *testing.T) {
	watch(t, 80, nil, true, func(p *Progress, seen *screen) {
		p.Begin("s")
		p.Event(lab.Event{Phase: "build", Contender: "a"})
		p.Event(lab.Event{Phase: "plan", Rounds: 3})
		time.Sleep(time.Minute)
		expect(t, seen)
		p.Fail(errors.New("it broke"))
		expect(t, seen, "tare: it broke\n")
	})
}
