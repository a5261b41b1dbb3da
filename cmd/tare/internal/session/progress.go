package session

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/report"
)

const (
	liveEvery  = time.Second // how often the live line is drawn again
	plainEvery = time.Minute // how far apart plain lines are
)

// Progress tells people what happens: one live line on a terminal, and a second one if
// there are several studies; elsewhere a plain line at the start of a study's rounds and
// at most one a minute. Its methods may be called by several goroutines.
type Progress struct {
	w       io.Writer
	live    bool // overwrite what was drawn
	quiet   bool
	columns int
	dim     func(string) string
	ascii   bool                       // the terminal shows no other characters
	size    func() (columns, rows int) // of the terminal, now

	mu      sync.Mutex
	study   string
	phase   string
	text    string    // what goes on
	since   time.Time // it goes on since; zero: it is not shown how long
	said    time.Time // last time something was written
	panel   Panel     // drawn in place of the live line; nil: the line is
	drawn   int       // lines on the screen
	rounds  lab.Event // the last one of a round; Rounds is 0 if there was none
	decided lab.Event // the last look
	begun   time.Time // the first study
	number  int       // of the study, from 1
	studies int       // to be carried out; 0 if that is not known
	done    chan struct{}
	ended   sync.WaitGroup
}

// NewProgress starts to write to the caller's stderr.
func NewProgress(env cmdenv.Env, quiet bool) *Progress {
	columns, _, terminal := env.Lab.Terminal(env.Err)
	st := env.Style(env.Err)
	p := &Progress{w: env.Err, live: terminal && env.Getenv("TERM") != "dumb", quiet: quiet, columns: columns, dim: st.Dim, ascii: st.ASCII, done: make(chan struct{})}
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

// Note writes a line that stays where nothing is drawn over, or one study is carried out
// alone: the blocks of several stand one below the other.
func (p *Progress) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.live || p.studies < 2 {
		p.say(text)
	}
}

// Expect says how many studies are carried out.
func (p *Progress) Expect(studies int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.studies, p.number, p.begun = studies, 0, time.Now()
}

// Begin says which study comes next.
func (p *Progress) Begin(study string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.study, p.phase, p.text, p.rounds, p.decided = study, "", "", lab.Event{}, lab.Event{}
	p.number++
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
		p.note(planned(e))
		p.status("round", fmt.Sprintf("round %d of %d", e.Round+1, e.Rounds), true)
	case "round":
		p.rounds = e
		p.status("round", p.inRounds(), false)
	case "look":
		p.decided = e
		p.status("round", p.inRounds(), false)
	case "fit":
		p.note(e.Message)
	case "race":
		p.note(fmt.Sprintf("%s leaves after %s: others are proven faster on everything it does", e.Contender, format.Count(e.Round, "round")))
	case "profile":
		if e.Err != nil {
			p.say(fmt.Sprintf("%s cannot be profiled: %s", e.Contender, format.Line(e.Err.Error(), 0)))
			return
		}
		p.status("profile", "profiling "+e.Contender, true)
	case "done":
		p.text = ""
		p.note("measured for " + formatSpan(e.Elapsed) + stopped(e.Message))
	}
}

// note writes a line that is routine: a terminal has the live line, and then the report.
func (p *Progress) note(text string) {
	if !p.live {
		p.say(text)
	}
}

// inRounds returns how far the rounds are, for a plain line.
func (p *Progress) inRounds() string {
	e := p.rounds
	text := fmt.Sprintf("%d of %d rounds, %s", e.Round, e.Rounds, formatClock(e.Elapsed))
	if words, left := timeLeft(e); left > 0 {
		text += fmt.Sprintf(", %s %s more", words, formatClock(left))
	}
	if all := p.decided.Decided + p.decided.Open; all > 0 {
		text += fmt.Sprintf("; %d of %d decided", p.decided.Decided, all)
	}
	return text
}

// barCells is the length of the bar of a live line.
const barCells = 10

// liveLine returns what goes on in a study, in at most width columns. If there is no room
// for all of it, the bar goes first, then how much is decided, then the ratio so far.
func (p *Progress) liveLine(width int) string {
	head := fmt.Sprintf("▸    %-12s ", p.study)
	if width < 60 {
		head = "▸ " + p.study + " "
	}
	if p.phase != "round" || p.rounds.Rounds == 0 {
		line := head + p.text
		if d := time.Since(p.since); !p.since.IsZero() && d >= 2*time.Second {
			line = cut(line, width-6) + "  " + formatClock(d)
		}
		return cut(line, width)
	}
	e := p.rounds
	done := barCells * e.Round / max(e.Rounds, 1)
	bar := strings.Repeat("▇", min(done, barCells)) + strings.Repeat("░", max(barCells-done, 0)) + " "
	at := fmt.Sprintf("%2d/%d  %s", e.Round, e.Rounds, formatClock(e.Elapsed))
	if words, left := timeLeft(e); left > 0 {
		at += fmt.Sprintf(", %s %s left", map[string]string{"at most": "≤", "about": "≈"}[words], formatClock(left))
	}
	ratio, known := "", ""
	if e.Leader != "" {
		ratio = "  " + e.Leader + " " + format.Times(e.Ratio)
	}
	if all := p.decided.Decided + p.decided.Open; all > 0 {
		known = fmt.Sprintf("  %d/%d known", p.decided.Decided, all)
	}
	for _, line := range []string{bar + at + ratio + known, at + ratio + known, at + ratio, at} {
		if utf8.RuneCountInString(head+line) <= width {
			return head + line
		}
	}
	return cut(head+at, width)
}

// studiesLine returns how many studies are done, below the live line. It is "" for one.
func (p *Progress) studiesLine() string {
	if p.studies < 2 {
		return ""
	}
	return fmt.Sprintf("  %d of %d studies, %s so far", p.number-1, p.studies, formatClock(time.Since(p.begun)))
}

func (p *Progress) build(e lab.Event) {
	switch {
	case errors.As(e.Err, new(*lab.NotInstalledError)):
		p.say(fmt.Sprintf("%s is left out: %s", e.Contender, format.Line(e.Err.Error(), 0)))
	case e.Err != nil:
		p.say(fmt.Sprintf("%s cannot be built: %s", e.Contender, format.Line(e.Err.Error(), 0)))
	case e.Message == "":
		p.status("build", "preparing "+e.Contender, true)
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

// status replaces what goes on. Without a terminal it is written if nothing else was for
// a while; outside of studies, a new phase is written at once.
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
	case fresh && p.study == "" || time.Since(p.said) >= plainEvery:
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
		return p.text + ", " + formatSpan(d)
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
	lines := []string{cmdenv.Paint(p.dim, cut(p.current(), p.columns-1))}
	switch {
	case p.panel != nil:
		lines = p.panel(p.size())
	case p.study != "":
		lines = []string{p.liveLine(p.columns - 1)}
		if text := p.studiesLine(); text != "" {
			lines = append(lines, cmdenv.Paint(p.dim, cut(text, p.columns-1)))
		}
	}
	if p.ascii {
		for i := range lines {
			lines[i] = report.ASCII(lines[i])
		}
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
