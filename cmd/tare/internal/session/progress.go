package session

import (
	"errors"
	"fmt"
	"io"
	"slices"
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
	liveEvery  = time.Second // interval of the live line
	plainEvery = time.Minute // interval between plain lines
)

// Progress reports the progress of measurements. On a terminal it draws a live line over the previous one, and
// a second one about several studies. Otherwise it writes a plain line at most once a minute. With --progress
// ndjson it writes events.
//
// Its methods may be called concurrently.
type Progress struct {
	out     io.Writer
	events  *cmdenv.ProgressLines // --progress ndjson; nil for text
	live    bool                  // out is a terminal
	quiet   bool                  // write errors only
	columns int
	dim     func(string) string // nil means plain text
	ascii   bool                // the terminal shows only ASCII
	size    func() (columns, rows int)

	mu            sync.Mutex
	study         string // "" outside of studies
	phase         string
	activity      string    // "" if nothing is drawn
	activityBegan time.Time // zero if its duration is not shown
	lastWrite     time.Time
	panel         Panel     // drawn instead of the live line; may be nil
	drawn         int       // drawn lines on the screen
	done, total   int       // rounds of the study, or seconds of a load
	lastRound     lab.Event // zero before the first round
	lastLook      lab.Event // last interim judgement; zero before the first
	firstBegan    time.Time
	studyNumber   int // position of the study, from 1
	studies       int // 0 if unknown
	end           chan struct{}
	ended         sync.WaitGroup
	outcome       cmdenv.Outcome // errors that Fail printed
}

// NewProgress returns a Progress that writes to stderr, or only errors if quiet. End stops it.
func NewProgress(env cmdenv.Env, quiet bool) *Progress {
	columns, _, terminal := env.Lab.Terminal(env.Err)
	st := env.Style(env.Err)
	p := &Progress{
		out: env.Err, live: terminal && env.Getenv("TERM") != "dumb", quiet: quiet,
		columns: columns, dim: st.Dim, ascii: st.ASCII, end: make(chan struct{}),
	}
	p.events, _ = env.Err.(*cmdenv.ProgressLines)
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
			case <-p.end:
				return
			case <-tick.C:
				p.onTick()
			}
		}
	})
	return p
}

// Fail writes an error that does not end the run, even if quiet. Outcome returns it.
func (p *Progress) Fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	cmdenv.Complain(p.out, err)
	p.outcome.Add(err)
}

// Outcome joins the errors of Fail; its exit code is the worst. It returns nil without errors.
func (p *Progress) Outcome() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outcome.Err()
}

// End removes the live line and stops all output.
func (p *Progress) End() {
	if !p.quiet {
		close(p.end)
		p.ended.Wait()
	}
	p.Pause()
}

// Separate writes an empty line between earlier output and the report.
func (p *Progress) Separate() {
	p.Pause()
	if p.live && !p.quiet {
		fmt.Fprintln(p.out)
	}
}

// Panel returns lines that fit on a terminal of a size.
type Panel func(columns, rows int) []string

// Panel shows an activity that has lasted done of total seconds; total 0 means unknown. On a terminal it draws
// panel, otherwise it writes text.
func (p *Progress) Panel(phase, text string, done, total int, panel Panel) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.panel, p.done, p.total = panel, done, total
	p.updateActivity(phase, text)
}

// Pause removes the live line, for other output, until the next event.
func (p *Progress) Pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.activity, p.panel = "", nil
	p.erase()
}

// Say writes a line that stays, unless quiet is set.
func (p *Progress) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writeLine(text)
}

// Note is Say, but silent if the progress is terse.
func (p *Progress) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isTerse() {
		p.writeLine(text)
	}
}

// Headline replaces the lines of Note if the progress is terse. It cuts text at the terminal's width.
func (p *Progress) Headline(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isTerse() {
		p.writeLine(format.Clip(text, p.columns))
	}
}

// isTerse reports whether several studies share a terminal. Their reports then need the screen.
func (p *Progress) isTerse() bool { return p.live && p.studies > 1 }

// Expect sets the number of studies.
func (p *Progress) Expect(studies int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.studies, p.studyNumber, p.firstBegan = studies, 0, time.Now()
}

// Begin sets the name of the next study.
func (p *Progress) Begin(study string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.study = study
	p.phase, p.activity, p.done, p.total = "", "", 0, 0
	p.lastRound, p.lastLook = lab.Event{}, lab.Event{}
	p.studyNumber++
}

// EndStudy ends the study: later lines do not begin with its name.
func (p *Progress) EndStudy() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.study = ""
}

// Status shows the current activity until the next one.
func (p *Progress) Status(phase, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.panel = nil
	p.startActivity(phase, text)
}

// Event reports an event of a study. A contender is a program that a study measures.
func (p *Progress) Event(e lab.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Phase {
	case "build":
		p.showBuild(e)
	case "pilot": // a short run of each contender before the rounds
		if e.Err != nil {
			p.writeLine(fmt.Sprintf("%s is out: %s", e.Contender, format.Line(e.Err.Error(), 0)))
			return
		}
		p.startActivity("pilot", "checking the answers of "+e.Contender+" and warming it up")
	case "exam": // a test with edge cases
		p.startActivity("exam", "asking "+e.Contender+" what others answer differently")
	case "plan":
		p.activity = "" // do not draw it again below the line
		p.done, p.total = e.Round, e.Rounds
		p.noteRoutine(e.Phase, describePlan(e))
		p.startActivity("round", fmt.Sprintf("round %d of %d", e.Round+1, e.Rounds))
	case "round":
		p.lastRound, p.done, p.total = e, e.Round, e.Rounds
		p.updateActivity("round", p.describeRounds())
	case "look": // an interim judgement after some rounds
		p.lastLook = e
		p.updateActivity("round", p.describeRounds())
	case "fit": // parts were omitted or added to fit into the budget
		p.noteRoutine(e.Phase, e.Message)
	case "race": // a contender is no longer measured
		p.noteRoutine(e.Phase, fmt.Sprintf("%s leaves after %s: others are proven faster on everything it does", e.Contender, format.Count(e.Round, "round")))
	case "profile":
		if e.Err != nil {
			p.writeLine(fmt.Sprintf("%s cannot be profiled: %s", e.Contender, format.Line(e.Err.Error(), 0)))
			return
		}
		p.startActivity("profile", "profiling "+e.Contender)
	case "done":
		p.activity = ""
		p.noteRoutine(e.Phase, "measured for "+formatSpan(e.Elapsed)+describeStop(e.Message))
	}
}

// noteRoutine writes nothing on a terminal, where the live line suffices.
func (p *Progress) noteRoutine(phase, text string) {
	if !p.live {
		p.writePhase(phase, text)
	}
}

// describeRounds returns text such as "6 of 18 rounds, 0:14, at most 0:30 more; 2 of 5 decided".
func (p *Progress) describeRounds() string {
	e := p.lastRound
	text := fmt.Sprintf("%d of %d rounds, %s", e.Round, e.Rounds, formatClock(e.Elapsed))
	if words, remaining := timeLeft(e); remaining > 0 {
		text += fmt.Sprintf(", %s %s more", words, formatClock(remaining))
	}
	if all := p.lastLook.Decided + p.lastLook.Open; all > 0 {
		text += fmt.Sprintf("; %d of %d decided", p.lastLook.Decided, all)
	}
	return text
}

const (
	barCells    = 10 // length of the bar
	narrowWidth = 60 // with fewer columns, names are not aligned
	minShown    = 2 * time.Second
)

// liveLine returns the progress of a study in at most width columns, e.g.
//
// "▸ json-encode ▇▇▇░░░░░░░ 6/18 0:14, ≤ 0:30 left sonic 0.48× 2/5 known".
//
// To save room it omits the bar, then the decided share, then the ratio.
func (p *Progress) liveLine(width int) string {
	head := fmt.Sprintf("▸    %-12s ", p.study)
	if width < narrowWidth {
		head = "▸ " + p.study + " "
	}
	if p.phase != "round" || p.lastRound.Rounds == 0 {
		line := head + p.activity
		if d := time.Since(p.activityBegan); !p.activityBegan.IsZero() && d >= minShown {
			line = format.Clip(line, width-6) + "  " + formatClock(d) // 6 columns for "  0:14"
		}
		return format.Clip(line, width)
	}
	e := p.lastRound
	position := fmt.Sprintf("%2d/%d  %s", e.Round, e.Rounds, formatClock(e.Elapsed))
	if words, remaining := timeLeft(e); remaining > 0 {
		sign := map[string]string{"at most": "≤", "about": "≈"}[words]
		position += fmt.Sprintf(", %s %s left", sign, formatClock(remaining))
	}
	ratio := "" // the lowest so far
	if e.Leader != "" {
		ratio = "  " + e.Leader + " " + format.Times(e.Ratio)
	}
	decided := ""
	if all := p.lastLook.Decided + p.lastLook.Open; all > 0 {
		decided = fmt.Sprintf("  %d/%d known", p.lastLook.Decided, all)
	}
	bar := formatBar(e.Round, e.Rounds) + " "
	for _, line := range []string{bar + position + ratio + decided, position + ratio + decided, position + ratio, position} {
		if utf8.RuneCountInString(head+line) <= width {
			return head + line
		}
	}
	return format.Clip(head+position, width)
}

// formatBar returns a bar such as ▇▇▇░░░░░░░.
func formatBar(done, total int) string {
	full := min(barCells*done/max(total, 1), barCells)
	return strings.Repeat("▇", full) + strings.Repeat("░", barCells-full)
}

// studiesLine returns the line about all studies, or "" if there is only one.
func (p *Progress) studiesLine() string {
	if p.studies < 2 {
		return ""
	}
	return fmt.Sprintf("  %d of %d studies, %s so far", p.studyNumber-1, p.studies, formatClock(time.Since(p.firstBegan)))
}

func (p *Progress) showBuild(e lab.Event) {
	var notInstalled *lab.NotInstalledError
	switch {
	case errors.As(e.Err, &notInstalled):
		p.writeLine(fmt.Sprintf("%s is skipped: %s", e.Contender, format.Line(e.Err.Error(), 0)))
	case e.Err != nil:
		p.writeLine(fmt.Sprintf("%s cannot be built: %s", e.Contender, format.Line(e.Err.Error(), 0)))
	case e.Message == "":
		p.startActivity("build", "preparing "+e.Contender)
	}
}

// Compiling reports that the current contender needs a compiler.
func (p *Progress) Compiling() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name, ok := strings.CutPrefix(p.activity, "preparing "); ok {
		p.startActivity("build", "building "+name)
	}
}

// startActivity replaces the current activity by one whose duration is shown.
func (p *Progress) startActivity(phase, text string) {
	p.activityBegan = time.Now()
	p.showActivity(phase, text)
}

// updateActivity replaces the current activity by one without a duration.
func (p *Progress) updateActivity(phase, text string) {
	p.activityBegan = time.Time{}
	p.showActivity(phase, text)
}

// showActivity draws the activity on a terminal, or writes it as an event. Plain text is rarer: only after
// plainEvery without output, or if the phase is new and no study runs.
func (p *Progress) showActivity(phase, text string) {
	isNew := phase != p.phase
	p.phase, p.activity = phase, text
	switch {
	case p.quiet: // writes errors only
	case p.live:
		p.draw()
	case p.events != nil:
		p.printLine(phase, p.activity)
	case isNew && p.study == "" || time.Since(p.lastWrite) >= plainEvery:
		p.printLine(phase, p.activity)
	}
}

// onTick redraws the live line. Without a terminal it prints again after plainEvery without output.
func (p *Progress) onTick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.activity == "" {
		return
	}
	if p.live {
		p.draw()
	} else if time.Since(p.lastWrite) >= plainEvery {
		p.printLine(p.phase, p.currentText())
	}
}

func (p *Progress) currentText() string {
	if d := time.Since(p.activityBegan); !p.activityBegan.IsZero() && d >= minShown {
		return p.activity + ", " + formatSpan(d)
	}
	return p.activity
}

func (p *Progress) writeLine(text string) { p.writePhase(cmdenv.PhaseMessage, text) }

func (p *Progress) writePhase(phase, text string) {
	text = report.Legible(text)
	if p.quiet {
		return
	}
	p.erase()
	p.printLine(phase, text)
	if p.live && p.activity != "" {
		p.draw()
	}
}

func (p *Progress) printLine(phase, text string) {
	p.lastWrite = time.Now()
	if p.events != nil {
		e := cmdenv.ProgressEvent{Phase: phase, Study: p.study, Text: text}
		if isCounted := slices.Contains([]string{"plan", "round", "load", "done"}, phase); isCounted {
			e.Done, e.Of = p.done, p.total
		}
		p.events.Emit(e)
		return
	}
	if p.study != "" {
		text = p.study + ": " + text
	}
	fmt.Fprintln(p.out, text)
}

// draw replaces the drawn lines in one write. A line that wraps cannot be overwritten, so none is wider than
// the terminal.
func (p *Progress) draw() {
	lines := []string{cmdenv.Paint(p.dim, format.Clip(p.currentText(), p.columns-1))}
	switch {
	case p.panel != nil:
		lines = p.panel(p.size())
	case p.study != "":
		lines = []string{p.liveLine(p.columns - 1)}
		if text := p.studiesLine(); text != "" {
			lines = append(lines, cmdenv.Paint(p.dim, format.Clip(text, p.columns-1)))
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
		text = fmt.Sprintf("\r\x1b[%dA", p.drawn-1) // up to the first drawn line
	}
	text += "\x1b[K" + strings.Join(lines, "\n\x1b[K") // clears to the end of the line
	if p.drawn > len(lines) {
		text += "\x1b[J" // clears to the end of the screen
	}
	fmt.Fprint(p.out, text)
	p.drawn = len(lines)
}

func (p *Progress) erase() {
	switch {
	case p.drawn == 1:
		fmt.Fprint(p.out, "\r\x1b[K")
	case p.drawn > 1:
		fmt.Fprintf(p.out, "\r\x1b[%dA\x1b[J", p.drawn-1)
	}
	p.drawn = 0
}
