package cmdenv

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Values of --progress.
const (
	progressText  = "text"
	progressLines = "ndjson"
)

// AddProgress adds --quiet and --progress to a command that measures.
func AddProgress(set *pflag.FlagSet, quiet *bool) {
	set.BoolVarP(quiet, "quiet", "q", false, "no progress on stderr")
	form := progressForm(progressText)
	set.Var(&form, "progress", "`form` of progress on stderr: text, or ndjson: a JSON document for each event, one on each line")
}

// CompleteProgress completes the values of --progress.
func CompleteProgress(cmd *cobra.Command) {
	CompleteFlag(cmd, "progress", cobra.FixedCompletions([]string{progressText, progressLines}, cobra.ShellCompDirectiveNoFileComp))
}

// progressForm is the [pflag.Value] of --progress, and checks the value. [WantsProgressLines] finds it
// in the arguments without parsing flags: errors of parsing are lines of progress, too.
type progressForm string

func (f *progressForm) String() string { return string(*f) }
func (f *progressForm) Type() string   { return "form" }

func (f *progressForm) Set(text string) error {
	if text != progressText && text != progressLines {
		return errors.New("one of " + progressText + ", " + progressLines)
	}
	*f = progressForm(text)
	return nil
}

// WantsProgressLines reports whether arguments select --progress ndjson.
func WantsProgressLines(args []string) bool {
	form, found := lastFlag(args, "progress")
	return found && form == progressLines
}

// PhaseMessage is the phase of progress that is only a text.
const PhaseMessage = "message"

// ProgressEvent is a line of --progress ndjson.
type ProgressEvent struct {
	Phase   string  `json:"phase"`           // message, build, pilot, plan, round, done, load and others
	Study   string  `json:"study,omitempty"` // "" outside of studies
	Done    int     `json:"done"`            // finished rounds, or seconds of a load
	Of      int     `json:"of"`              // planned rounds, or seconds of a load; 0 means unknown
	Seconds float64 `json:"seconds"`         // since the command began
	Text    string  `json:"text"`            // the line that people get
}

// ProgressLines writes progress as NDJSON. Emit writes an event. Each line of other text becomes an
// event of phase message. Its methods may be called concurrently.
type ProgressLines struct {
	mu    sync.Mutex
	out   io.Writer
	began time.Time
	rest  []byte // start of a line that has no end yet
}

// NewProgressLines returns lines on out for a command that begins now.
func NewProgressLines(out io.Writer) *ProgressLines {
	return &ProgressLines{out: out, began: time.Now()}
}

// Emit writes an event. It sets Seconds.
func (l *ProgressLines) Emit(e ProgressEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.writeEvent(e) // as with other progress, an error could not be reported
}

// Write implements [io.Writer].
func (l *ProgressLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		line, rest, isComplete := bytes.Cut(l.rest, []byte("\n"))
		if !isComplete {
			return len(p), nil
		}
		l.rest = rest
		if err := l.writeText(line); err != nil {
			return 0, err
		}
	}
}

// Flush writes a last line that has no end.
func (l *ProgressLines) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.writeText(l.rest)
	l.rest = nil
}

func (l *ProgressLines) writeText(line []byte) error {
	text := strings.TrimSpace(string(line))
	if text == "" {
		return nil
	}
	return l.writeEvent(ProgressEvent{Phase: PhaseMessage, Text: text})
}

func (l *ProgressLines) writeEvent(e ProgressEvent) error {
	e.Seconds = time.Since(l.began).Round(time.Millisecond).Seconds()
	return writeLine(l.out, e)
}
