package emit

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// layoutTitle begins the account of what generated code relies on.
const layoutTitle = "Layout that this file relies on, offsets in bytes (of bit-fields in bits behind them):"

// Layout lists what the code for a plan relies on, a line for each struct and
// each member: what [Drift] compares.
func Layout(p *plan.Plan) []string {
	var lines []string
	for _, s := range p.Structs {
		lines = append(lines, fmt.Sprintf("%s %d bytes", s.Says, s.C.Size))
		for _, m := range s.Fields {
			at := fmt.Sprint(m.Offset)
			if m.Rule.Op == plan.Bits {
				at += fmt.Sprintf(":%d+%d", m.Rule.Bit, m.Rule.Width)
			}
			lines = append(lines, fmt.Sprintf("%s.%s %s %s", s.Says, m.C, at, m.Type))
		}
	}
	return lines
}

func (f *file) layout(p *plan.Plan) {
	f.line("// %s\n//", layoutTitle)
	for _, l := range Layout(p) {
		f.line("//\t%s", l)
	}
}

// ReadLayout finds the account in a generated file. It is false where there is
// none.
func ReadLayout(src string) ([]string, bool) {
	_, rest, ok := strings.Cut(src, "// "+layoutTitle+"\n//\n")
	if !ok {
		return nil, false
	}
	var lines []string
	for line := range strings.Lines(rest) {
		text, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "//\t")
		if !ok {
			break
		}
		lines = append(lines, text)
	}
	return lines, true
}

// Drift says, a sentence each, how the layout has changed from old to new.
func Drift(old, new []string) []string {
	index := func(lines []string) map[string]string {
		m := map[string]string{}
		for _, l := range lines {
			key, value := split(l)
			m[key] = value
		}
		return m
	}
	was, is := index(old), index(new)
	var out []string
	for _, l := range old {
		key, before := split(l)
		after, there := is[key]
		switch {
		case !there:
			out = append(out, key+" is gone")
		case after != before:
			out = append(out, changed(key, before, after))
		}
	}
	for _, l := range new {
		if key, value := split(l); was[key] == "" && value != "" {
			out = append(out, key+" is new")
		}
	}
	return out
}

// split is a line's name, and what it says about it. Names of structs may have
// two words.
func split(line string) (key, value string) {
	words := strings.Split(line, " ")
	for i, w := range words {
		if i > 0 && w != "" && (w[0] >= '0' && w[0] <= '9') {
			return strings.Join(words[:i], " "), strings.Join(words[i:], " ")
		}
	}
	return line, ""
}

func changed(key, before, after string) string {
	from, fromType, _ := strings.Cut(before, " ")
	to, toType, _ := strings.Cut(after, " ")
	switch {
	case fromType == "bytes":
		return fmt.Sprintf("%s has %s bytes, not %s", key, to, from)
	case from != to && fromType == toType:
		return fmt.Sprintf("%s moved from %s to %s", key, from, to)
	case from != to:
		return fmt.Sprintf("%s moved from %s to %s and is %s, not %s", key, from, to, toType, fromType)
	}
	return fmt.Sprintf("%s is %s, not %s", key, toType, fromType)
}
