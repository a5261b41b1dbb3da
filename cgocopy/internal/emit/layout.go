package emit

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// layoutTitle begins the account of what generated code relies on.
const layoutTitle = "Layout that this file relies on, offsets in bytes (of bit-fields in bits behind them):"

// Layout lists what the code for a plan relies on, a line for each struct, each
// member, each value of an enum and each function: what [Drift] compares.
func Layout(u Unit) []string {
	var lines []string
	for _, e := range u.Plan.Enums {
		lines = append(lines, fmt.Sprintf("%s: stored as %s", e.C, e.Under))
		for _, v := range e.Values {
			lines = append(lines, fmt.Sprintf("%s.%s: value %d", e.C, v.C, v.N))
		}
	}
	for _, s := range u.Plan.Structs {
		lines = append(lines, fmt.Sprintf("%s: %d bytes", s.Says, s.C.Size))
		for _, m := range s.Fields {
			at := fmt.Sprint(m.Offset)
			if m.Rule.Op == plan.Bits {
				at += fmt.Sprintf(":%d+%d", m.Rule.Bit, m.Rule.Width)
			}
			name := s.Says
			if m.C != "" {
				name += "." + m.C
				lines = append(lines, fmt.Sprintf("%s: %s %s", name, at, m.Type))
			}
			for _, c := range members(m.Rule) {
				lines = append(lines, fmt.Sprintf("%s.%s: %d %s", name, c.C, m.Offset, c.Type))
			}
		}
	}
	for _, c := range u.Plan.Calls {
		lines = append(lines, fmt.Sprintf("%s(): %s", c.C, c.Says))
	}
	return lines
}

func (f *file) layout(u Unit) {
	f.line("// %s\n//", layoutTitle)
	for _, l := range Layout(u) {
		f.line("//\t%s", l)
	}
}

// ReadLayout finds the account in a generated file. It is false where there is
// none.
func ReadLayout(src string) ([]string, bool) {
	if !strings.Contains(src, "// "+layoutTitle+"\n//\n") {
		return nil, false
	}
	return listed(src, layoutTitle), true
}

// Drift says, a sentence each, how the layout has changed from old to new.
func Drift(old, new []string) []string {
	index := func(lines []string) map[string]string {
		m := map[string]string{}
		for _, l := range lines {
			key, value := entry(l)
			m[key] = value
		}
		return m
	}
	was, is := index(old), index(new)
	var out []string
	for _, l := range old {
		key, before := entry(l)
		after, there := is[key]
		switch name := strings.TrimSuffix(key, sized); {
		case !there:
			out = append(out, name+" is gone")
		case after != before:
			out = append(out, changed(name, before, after))
		}
	}
	for _, l := range new {
		key, _ := entry(l)
		if _, there := was[key]; !there {
			out = append(out, strings.TrimSuffix(key, sized)+" is new")
		}
	}
	return out
}

// sized ends the key of a line that says how large something is: what has no name
// of its own is called as the member that it is of.
const sized = " bytes"

// entry cuts a line of an account into what it is about and what it says.
func entry(line string) (key, value string) {
	key, value, _ = strings.Cut(line, ": ")
	if n, ok := strings.CutSuffix(value, sized); ok && !strings.Contains(n, " ") {
		key += sized
	}
	return key, value
}

func changed(key, before, after string) string {
	from, fromType, _ := strings.Cut(before, " ")
	to, toType, _ := strings.Cut(after, " ")
	number := from != "" && from[0] >= '0' && from[0] <= '9'
	switch {
	case number && fromType == "bytes":
		return fmt.Sprintf("%s has %s bytes, not %s", key, to, from)
	case number && from != to && fromType == toType:
		return fmt.Sprintf("%s moved from %s to %s", key, from, to)
	case number && from != to:
		return fmt.Sprintf("%s moved from %s to %s and is %s, not %s", key, from, to, toType, fromType)
	case number:
		return fmt.Sprintf("%s is %s, not %s", key, toType, fromType)
	}
	return fmt.Sprintf("%s is %s, not %s", key, after, before)
}
