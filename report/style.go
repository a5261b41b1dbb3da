package report

import "strings"

// Style defines the look of the text report. The zero value is plain text for 100 columns. A nil function leaves
// its text as it is. If Strike is nil, a crossed-out number is printed as ~43.1~.
//
// The functions may add escape sequences but no visible characters, because columns are aligned.
type Style struct {
	Bold   func(string) string // paints headings and subjects of lines
	Dim    func(string) string // paints explanations
	Strike func(string) string // paints values that must not be used
	Good   func(string) string // paints met, holds
	Bad    func(string) string // paints not met, refuted, void
	Warn   func(string) string // paints inconclusive, warnings
	Width  int                 // columns of the terminal; 0 means 100, the minimum is 40
	Lines  int                 // lines per study in format brief; 0 means 4
	ASCII  bool                // print only ASCII characters, such as x for ×
}

const (
	defaultWidth = 100
	minWidth     = 40
)

func (s Style) pageWidth() int {
	switch {
	case s.Width == 0:
		return defaultWidth
	case s.Width < minWidth:
		return minWidth
	}
	return s.Width
}

func (s Style) paintText(m Mark, text string) string {
	paint := map[Mark]func(string) string{Bold: s.Bold, Dim: s.Dim, Struck: s.Strike, Good: s.Good, Bad: s.Bad, Warned: s.Warn}[m]
	if paint == nil || text == "" {
		return text
	}
	return paint(text)
}

// asciiReplacer replaces characters that need UTF-8. In drawings and columns one character replaces one, to keep
// them aligned.
var asciiReplacer = strings.NewReplacer("●", "o", "○", ".", "━", "=", "─", "-", "│", "|", "░", ":", "◇", "<", "◀", "<", "▶", ">", "▇", "#", "▸", ">", "✓", "+", "✕", "x",
	"▲", "^", "▼", "v", "≈", "~", "×", "x", "⅛", "/8", "¼", "/4", "½", "/2", "–", "-", "−", "-", "·", "-", "…", ".", "±", "+/-", "≤", "<=", "≥", ">=", "µ", "u", "→", "->",
	"“", "\"", "”", "\"", "’", "'", "†", "+")

// ASCII replaces the characters of reports that a terminal without UTF-8 does not show.
func ASCII(text string) string { return asciiReplacer.Replace(text) }

// showMark puts ~ around a struck text if the style cannot strike.
func (s Style) showMark(f Field) Field {
	if f.Mark == Struck && s.Strike == nil {
		f.Text = "~" + f.Text + "~"
	}
	return f
}
