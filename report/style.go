package report

// Style says how the text report looks. The zero value is plain text for 100
// columns. A nil function leaves its text as it is, except Strike: without it
// a struck-out figure is printed between tildes, ~43.1~.
//
// The functions may add escape sequences but no visible characters: columns
// are aligned by the text they are given.
type Style struct {
	Bold   func(string) string // headings and what a line is about
	Dim    func(string) string // what can be skipped
	Strike func(string) string // figures that must not be used
	Good   func(string) string // met, holds
	Bad    func(string) string // not met, refuted, void
	Warn   func(string) string // inconclusive, warnings
	Width  int                 // columns to fill; zero: 100, below 60 counts as 60
}

const (
	defaultWidth = 100
	leastWidth   = 60
)

func (s Style) width() int {
	switch {
	case s.Width == 0:
		return defaultWidth
	case s.Width < leastWidth:
		return leastWidth
	}
	return s.Width
}

// paint applies f, which may be nil.
func paint(f func(string) string, text string) string {
	if f == nil || text == "" {
		return text
	}
	return f(text)
}

// struck is a cell whose figure must not be used.
func (s Style) struck(text string) cell {
	if s.Strike == nil {
		return cell{text: "~" + text + "~"}
	}
	return cell{text: text, paint: s.Strike}
}
