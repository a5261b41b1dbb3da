package emit

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

const layoutTitle = "Layout that this file relies on, offsets in bytes (of bit-fields in bits behind them):"

// Layout returns the facts about C that the code for a plan relies on. Each has a line NAME: FACT, e.g.
// "Person.age: 8 int" for offset 8. The lines are a comment in generated code, and [LayoutChanges] compares
// them.
func Layout(u Unit) []string {
	var lines []string
	for _, e := range u.Plan.Enums {
		lines = append(lines, fmt.Sprintf("%s: stored as %s", e.C, e.Under))
		for _, v := range e.Values {
			lines = append(lines, fmt.Sprintf("%s.%s: value %d", e.C, v.C, v.N))
		}
	}
	for _, s := range u.Plan.Structs {
		lines = append(lines, fmt.Sprintf("%s: %d bytes", s.CName, s.C.Size))
		for _, m := range s.Fields {
			offset := fmt.Sprint(m.Offset)
			if m.Rule.Op == plan.Bits {
				offset += fmt.Sprintf(":%d+%d", m.Rule.Bit, m.Rule.Width)
			}
			name := s.CName
			if m.C != "" {
				name += "." + m.C
				lines = append(lines, fmt.Sprintf("%s: %s %s", name, offset, m.Type))
			}
			for _, c := range unionMembers(m.Rule) {
				lines = append(lines, fmt.Sprintf("%s.%s: %d %s", name, c.C, m.Offset, c.Type))
			}
		}
	}
	for _, c := range u.Plan.Calls {
		lines = append(lines, fmt.Sprintf("%s(): %s", c.C, c.Prototype))
	}
	return lines
}

func (f *file) writeLayout(u Unit) {
	f.writeLine("// %s\n//", layoutTitle)
	for _, l := range Layout(u) {
		f.writeLine("//\t%s", l)
	}
}

// ReadLayout returns the lines of the layout in a generated file, or false without any.
func ReadLayout(src string) ([]string, bool) {
	if !strings.Contains(src, "// "+layoutTitle+"\n//\n") {
		return nil, false
	}
	return linesUnder(src, layoutTitle), true
}

// LayoutChanges returns a sentence per difference between two layouts.
func LayoutChanges(old, new []string) []string {
	index := func(lines []string) map[string]string {
		m := map[string]string{}
		for _, l := range lines {
			key, value := cutEntry(l)
			m[key] = value
		}
		return m
	}
	oldFacts, newFacts := index(old), index(new)
	var out []string
	for _, l := range old {
		key, before := cutEntry(l)
		after, ok := newFacts[key]
		switch name := strings.TrimSuffix(key, sizeSuffix); {
		case !ok:
			out = append(out, name+" is gone")
		case after != before:
			out = append(out, describeChange(name, before, after))
		}
	}
	for _, l := range new {
		key, _ := cutEntry(l)
		if _, ok := oldFacts[key]; !ok {
			out = append(out, strings.TrimSuffix(key, sizeSuffix)+" is new")
		}
	}
	return out
}

// sizeSuffix ends the fact of a line about a size. cutEntry also adds it to the key: a struct without a
// name and its member have the same name.
const sizeSuffix = " bytes"

func cutEntry(line string) (key, value string) {
	key, value, _ = strings.Cut(line, ": ")
	if n, ok := strings.CutSuffix(value, sizeSuffix); ok && !strings.Contains(n, " ") {
		key += sizeSuffix
	}
	return key, value
}

// describeChange returns the sentence about a changed fact. Facts of members and structs begin with a
// number; the rest is a type, or "bytes".
func describeChange(key, before, after string) string {
	from, fromType, _ := strings.Cut(before, " ")
	to, toType, _ := strings.Cut(after, " ")
	hasNumber := from != "" && from[0] >= '0' && from[0] <= '9'
	switch {
	case hasNumber && fromType == "bytes":
		return fmt.Sprintf("%s has %s bytes, not %s", key, to, from)
	case hasNumber && from != to && fromType == toType:
		return fmt.Sprintf("%s moved from %s to %s", key, from, to)
	case hasNumber && from != to:
		return fmt.Sprintf("%s moved from %s to %s and is %s, not %s", key, from, to, toType, fromType)
	case hasNumber:
		return fmt.Sprintf("%s is %s, not %s", key, toType, fromType)
	}
	return fmt.Sprintf("%s is %s, not %s", key, after, before)
}
