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
			for _, c := range unionMembers(m.Rule) {
				lines = append(lines, fmt.Sprintf("%s.%s: %d %s", name, c.C, m.Offset, c.Type))
			}
		}
	}
	for _, c := range u.Plan.Calls {
		lines = append(lines, fmt.Sprintf("%s(): %s", c.C, c.Says))
	}
	return lines
}

func (f *file) writeLayout(u Unit) {
	f.writeLine("// %s\n//", layoutTitle)
	for _, l := range Layout(u) {
		f.writeLine("//\t%s", l)
	}
}

// ReadLayout finds the layout in a generated file. It returns false if there is none.
func ReadLayout(src string) ([]string, bool) {
	if !strings.Contains(src, "// "+layoutTitle+"\n//\n") {
		return nil, false
	}
	return linesUnder(src, layoutTitle), true
}

// Drift returns a sentence per change of the layout from old to new.
func Drift(old, new []string) []string {
	index := func(lines []string) map[string]string {
		m := map[string]string{}
		for _, l := range lines {
			key, value := cutEntry(l)
			m[key] = value
		}
		return m
	}
	was, is := index(old), index(new)
	var out []string
	for _, l := range old {
		key, before := cutEntry(l)
		after, there := is[key]
		switch name := strings.TrimSuffix(key, sizeSuffix); {
		case !there:
			out = append(out, name+" is gone")
		case after != before:
			out = append(out, describeChange(name, before, after))
		}
	}
	for _, l := range new {
		key, _ := cutEntry(l)
		if _, there := was[key]; !there {
			out = append(out, strings.TrimSuffix(key, sizeSuffix)+" is new")
		}
	}
	return out
}

// sizeSuffix ends the key of a line that states a size: a type without a name is called like the
// member of that type.
const sizeSuffix = " bytes"

// cutEntry cuts a line of a layout into its key and its value.
func cutEntry(line string) (key, value string) {
	key, value, _ = strings.Cut(line, ": ")
	if n, ok := strings.CutSuffix(value, sizeSuffix); ok && !strings.Contains(n, " ") {
		key += sizeSuffix
	}
	return key, value
}

func describeChange(key, before, after string) string {
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
