package cmdenv

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/fatih/color"
	"golang.org/x/term"

	"github.com/tarebench/tare/report"
)

// Terminal asks stream whether it is a terminal, and how large.
func Terminal(stream any) (columns, rows int, ok bool) {
	f, isFile := stream.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, 0, false
	}
	if columns, rows, err := term.GetSize(int(f.Fd())); err == nil {
		return columns, rows, true
	}
	return 80, 24, true
}

// Style is how text on stream looks: plain unless it is a terminal that shows
// colours and the user does not object (https://no-color.org).
func (env Env) Style(stream any) report.Style {
	columns, _, ok := env.Lab.Terminal(stream)
	if !ok {
		return report.Style{ASCII: env.isASCII()}
	}
	st := report.Style{Width: columns, ASCII: env.isASCII()}
	if env.Getenv("NO_COLOR") != "" || env.Getenv("TERM") == "dumb" {
		return st
	}
	st.Bold, st.Dim, st.Strike = painter(color.Bold), painter(color.Faint), painter(color.CrossedOut)
	st.Good, st.Bad, st.Warn = painter(color.FgGreen), painter(color.FgRed), painter(color.FgYellow)
	return st
}

// isASCII reports whether the locale names a character set that is not UTF-8. A locale
// that is not set says nothing.
func (env Env) isASCII() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(env.Getenv(name)); value != "" {
			return !strings.Contains(value, "utf-8") && !strings.Contains(value, "utf8")
		}
	}
	return false
}

func painter(a color.Attribute) func(string) string {
	c := color.New(a)
	c.EnableColor() // whatever the library thinks of this process's own stdout
	return func(text string) string { return c.Sprint(text) }
}

// Paint applies a style's function where it has one.
func Paint(f func(string) string, text string) string {
	if f == nil {
		return text
	}
	return f(text)
}

// Cause is what the operating system said, without the operation and path that
// the message around it names already.
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
