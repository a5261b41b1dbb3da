package session

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/report"
)

const (
	liveEvery  = time.Second     // how often the live line is drawn again
	plainEvery = 5 * time.Second // how far apart plain lines of one phase are
)

// Progress tells people what happens: one live line on a terminal; elsewhere a
// plain line per phase and then one every few seconds. Its methods may be
// called by several goroutines.
type Progress struct {
	w       io.Writer
	live    bool // overwrite what was drawn
	quiet   bool
	columns int
	dim     func(string) string
	size    func() (columns, rows int) // of the terminal, now

	mu      sync.Mutex
	study   string
	phase   string
	text    string    // what goes on
	since   time.Time // it goes on since; zero: it is not shown how long
	said    time.Time // last time something was written
	panel   Panel     // drawn in place of the live line; nil: the line is
	drawn   int       // lines on the screen
	rounds  string    // done so far, and time
	answers string    // found at the last look
	done    chan struct{}
	ended   sync.WaitGroup
}

// NewProgress starts to write to the caller's stderr.
func NewProgress(env cmdenv.Env, quiet bool) *Progress {
	columns, _, terminal := env.Lab.Terminal(env.Err)
	p := &Progress{w: env.Err, live: terminal && env.Getenv("TERM") != "dumb", quiet: quiet, columns: columns, dim: env.Style(env.Err).Dim, done: make(chan struct{})}
	p.size = func() (int, int) {
		columns, rows, _ := env.Lab.Terminal(env.Err)
		return columns, rows
	}
	if quiet {
		return p
	}
	p.ended.Go(func() {
		tick := time.NewTicker(liveEvery)
		defer tick.Stop()
		for {
			select {
			case <-p.done:
				return
			case <-tick.C:
				p.again()
			}
		}
	})
	return p
}

// Fail writes an error that does not end the run, even when quiet.
func (p *Progress) Fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	cmdenv.Complain(p.w, err)
}

// End takes the live line away and falls silent.
func (p *Progress) End() {
	if !p.quiet {
		close(p.done)
		p.ended.Wait()
	}
	p.Pause()
}

// Part sets what was said apart from the report, where both are on one screen.
func (p *Progress) Part() {
	p.Pause()
	if p.live && !p.quiet {
		fmt.Fprintln(p.w)
	}
}

// Panel is what is drawn on a terminal of that size: lines that fit into it.
type Panel func(columns, rows int) []string

// Panel says what goes on: on a terminal by a panel, elsewhere by a line.
func (p *Progress) Panel(phase, text string, panel Panel) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.panel = panel
	p.status(phase, text, false)
}

// Pause takes the live line away, for other output, until the next event.
func (p *Progress) Pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.panel = "", nil
	p.erase()
}

// Say writes a line that stays.
func (p *Progress) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.say(text)
}

// Begin says which study comes next.
func (p *Progress) Begin(study, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.study, p.phase, p.text, p.rounds, p.answers = study, "", "", "", ""
	p.say(text)
}

// Status says what goes on now, for as long as nothing else is said.
func (p *Progress) Status(phase, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.panel = nil
	p.status(phase, text, true)
}

// Event says what the lab does.
func (p *Progress) Event(e lab.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Phase {
	case "build":
		p.build(e)
	case "pilot":
		if e.Err != nil {
			p.say(fmt.Sprintf("%s is out: %s", e.Contender, format.Line(e.Err.Error(), 0)))
			return
		}
		p.status("pilot", "checking the answers of "+e.Contender+" and warming it up", true)
	case "exam":
		p.status("exam", "asking "+e.Contender+" what others answer differently", true)
	case "plan":
		p.text = ""
		p.say(planned(e))
		p.status("round", fmt.Sprintf("round %d of %d", e.Round+1, e.Rounds), true)
		p.said = time.Now() // the plan was this phase's line
	case "round":
		p.rounds = fmt.Sprintf("%d of %d rounds, %s%s%s", e.Round, e.Rounds, cmdenv.Seconds(e.Elapsed), formatTimeLeft(e), leading(e))
		p.status("round", p.rounds+p.answers, false)
	case "look":
		if all := e.Decided + e.Open; all > 0 {
			p.answers = fmt.Sprintf(", %d of %d answered", e.Decided, all)
		}
		p.status("round", p.rounds+p.answers, false)
	case "fit":
		p.say(e.Message)
	case "race":
		p.say(fmt.Sprintf("%s leaves after %s: others are proven faster on everything it does", e.Contender, format.Count(e.Round, "round")))
	case "profile":
		if e.Err != nil {
			p.say(fmt.Sprintf("%s cannot be profiled: %s", e.Contender, format.Line(e.Err.Error(), 0)))
			return
		}
		p.status("profile", "profiling "+e.Contender, true)
	case "done":
		p.text = ""
		p.say("measured for " + cmdenv.Seconds(e.Elapsed) + stopped(e.Message))
	}
}

// leading says who leads so far, and by about how much.
func leading(e lab.Event) string {
	switch {
	case e.Leader == "":
		return ""
	case e.Ratio >= 1:
		return fmt.Sprintf("; %s about %.2f×", e.Leader, e.Ratio)
	}
	return fmt.Sprintf("; %s about %.2f×, leading", e.Leader, e.Ratio)
}

func (p *Progress) build(e lab.Event) {
	switch {
	case errors.As(e.Err, new(*lab.NotInstalledError)):
		p.say(fmt.Sprintf("%s is left out: %s", e.Contender, format.Line(e.Err.Error(), 0)))
	case e.Err != nil:
		p.say(fmt.Sprintf("%s cannot be built: %s", e.Contender, format.Line(e.Err.Error(), 0)))
	case e.Message == "":
		p.status("build", "preparing "+e.Contender, true)
	default:
		p.status("build", e.Contender+" is built", false)
	}
}

// Compiling says that what is being prepared needs a compiler.
func (p *Progress) Compiling() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name, ok := strings.CutPrefix(p.text, "preparing "); ok {
		p.status("build", "building "+name, true)
	}
}

// status replaces what goes on. A new phase is written at once, the rest of it
// only on the live line or when nothing was written for a while.
func (p *Progress) status(phase, text string, timed bool) {
	p.text, p.since = text, time.Time{}
	if timed {
		p.since = time.Now()
	}
	fresh := phase != p.phase
	p.phase = phase
	switch {
	case p.quiet:
	case p.live:
		p.draw()
	case fresh || time.Since(p.said) >= plainEvery:
		p.print(p.text)
	}
}

// again is called by the clock.
func (p *Progress) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text == "" {
		return
	}
	if p.live {
		p.draw()
	} else if time.Since(p.said) >= plainEvery {
		p.print(p.current())
	}
}

// current is what goes on, and for how long where that says something.
func (p *Progress) current() string {
	if d := time.Since(p.since); !p.since.IsZero() && d >= 2*time.Second {
		return p.text + ", " + cmdenv.Seconds(d)
	}
	return p.text
}

// say writes a line that stays, above the live one.
func (p *Progress) say(text string) {
	text = report.Legible(text)
	if p.quiet {
		return
	}
	p.erase()
	p.print(text)
	if p.live && p.text != "" {
		p.draw()
	}
}

func (p *Progress) print(text string) {
	p.said = time.Now()
	fmt.Fprintf(p.w, "%s%s\n", p.prefix(), text)
}

func (p *Progress) prefix() string {
	if p.study == "" {
		return ""
	}
	return p.study + ": "
}

// draw writes the panel or the live line over what was drawn before, in one
// piece. A line is no wider than the terminal, because one that wraps cannot be
// overwritten.
func (p *Progress) draw() {
	lines := []string{cmdenv.Paint(p.dim, cut(p.prefix()+p.current(), p.columns-1))}
	if p.panel != nil {
		lines = p.panel(p.size())
	}
	if len(lines) == 0 {
		p.erase()
		return
	}
	text := "\r"
	if p.drawn > 1 {
		text = fmt.Sprintf("\r\x1b[%dA", p.drawn-1)
	}
	text += "\x1b[K" + strings.Join(lines, "\n\x1b[K")
	if p.drawn > len(lines) {
		text += "\x1b[J"
	}
	fmt.Fprint(p.w, text)
	p.drawn = len(lines)
}

// erase takes away what was drawn, and leaves the cursor where it began.
func (p *Progress) erase() {
	switch {
	case p.drawn == 1:
		fmt.Fprint(p.w, "\r\x1b[K")
	case p.drawn > 1:
		fmt.Fprintf(p.w, "\r\x1b[%dA\x1b[J", p.drawn-1)
	}
	p.drawn = 0
}
