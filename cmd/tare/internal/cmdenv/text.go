package cmdenv

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// This file formats text for terminals, e.g. numbers of bytes, and paragraphs that fit the width.

// DirSize returns the total size of the files in dir and below. It skips files that cannot be read.
func DirSize(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// BytesText formats n: 512 B, 13.4 MB.
func BytesText(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	x, i := float64(n)/unit, 0
	for x >= 999.95 && i < 3 { // would round to 1000.0
		x, i = x/unit, i+1
	}
	return fmt.Sprintf("%.1f %s", x, []string{"kB", "MB", "GB", "TB"}[i])
}

// Paragraph writes text in lines of at most columns. firstIndent precedes the first line, and otherIndent
// each further line.
func Paragraph(w io.Writer, firstIndent, otherIndent, text string, columns int) {
	indent := firstIndent
	for _, l := range Wrap(text, columns, len(otherIndent)) {
		fmt.Fprintln(w, indent+l)
		indent = otherIndent
	}
}

// minTextColumns is the least width of text on narrow terminals.
const minTextColumns = 20

// unknownColumns is the width of text if the output is not a terminal.
const unknownColumns = 96

// Wrap breaks text at spaces into lines of at most columns-used characters. The caller needs used
// columns in each line. If columns is 0, the width is unknown.
func Wrap(text string, columns, used int) []string {
	if columns == 0 {
		columns, used = unknownColumns, 0
	}
	columns = max(columns-used, minTextColumns)
	var lines []string
	var line []rune
	for _, word := range strings.Fields(text) {
		if len(line) > 0 && len(line)+1+len([]rune(word)) > columns {
			lines, line = append(lines, string(line)), nil
		}
		if len(line) > 0 {
			line = append(line, ' ')
		}
		line = append(line, []rune(word)...)
	}
	return append(lines, string(line))
}

// Dagger returns the mark in lists of a trap, a program that repeats a published mistake, or "".
func Dagger(trap bool) string {
	if trap {
		return "†"
	}
	return ""
}

// ShellQuote quotes a text for a POSIX shell, if necessary.
func ShellQuote(text string) string {
	isSpecial := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./:=@%+,-…", r)
	}
	if text != "" && !strings.ContainsFunc(text, isSpecial) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Seconds formats d: 0.85s, 12s, 3m20s.
func Seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d < time.Minute:
		return d.Round(time.Second).String()
	}
	text := d.Round(time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} { // 3m0s becomes 3m, and 1h0m then 1h
		if strings.HasSuffix(text, zero) {
			text = strings.TrimSuffix(text, zero[1:])
		}
	}
	return text
}
