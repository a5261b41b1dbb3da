package cmdenv

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/fatih/color"
	"golang.org/x/term"

	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/report"
)

// Terminal returns the size of stream if it is a terminal.
func Terminal(stream any) (columns, rows int, ok bool) {
	f, isFile := stream.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, 0, false
	}
	if columns, rows, err := term.GetSize(int(f.Fd())); err == nil {
		return columns, rows, true
	}
	return 80, 24, true // the usual size
}

// Style returns the style of text on stream. It has colours only on a terminal with colours. NO_COLOR
// turns them off (https://no-color.org).
func (env Env) Style(stream any) report.Style {
	columns, _, isTerminal := env.Lab.Terminal(stream) // a test replaces the function
	st := report.Style{ASCII: env.isASCII()}
	if !isTerminal {
		return st
	}
	st.Width = columns
	if env.Getenv("NO_COLOR") != "" || env.Getenv("TERM") == "dumb" {
		return st
	}
	st.Bold, st.Dim, st.Strike = newPainter(color.Bold), newPainter(color.Faint), newPainter(color.CrossedOut)
	st.Good, st.Bad, st.Warn = newPainter(color.FgGreen), newPainter(color.FgRed), newPainter(color.FgYellow)
	return st
}

// isASCII reports whether the locale has another character set than UTF-8.
func (env Env) isASCII() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(env.Getenv(name)); value != "" {
			return !strings.Contains(value, "utf-8") && !strings.Contains(value, "utf8")
		}
	}
	return false
}

func newPainter(a color.Attribute) func(string) string {
	c := color.New(a)
	c.EnableColor() // independent of the library's check of stdout
	return func(text string) string { return c.Sprint(text) }
}

// Paint returns text with the escape sequences of f, a function of report.Style such as Bold. A nil f
// changes nothing.
func Paint(f func(string) string, text string) string { return format.Paint(f, text) }

// Cause removes the operation and the path from an error of package os: "open a.txt: permission denied"
// becomes "permission denied".
func Cause(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
