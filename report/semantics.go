package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const (
	semanticsHeading = "What they answer differently"
	mostSays         = 6 // consequences of a kind that are listed where no value changes, or one of each property
	cellSays         = 3 // the same in a field of a table
	tableContenders  = 5 // columns of one table, so that it fits a page
	likeReference    = "="
)

func (s *Section) semantics(r *tare.Result) {
	asked := conducts(r)
	if len(asked) == 0 {
		return
	}
	means, same := examinedBy(r, asked), alike(asked)
	s.only(forText, func() {
		s.say(Dim, means)
		s.differences(r, asked, same)
	})
	s.only(forHTML, func() {
		s.say(Dim, means, meaning(asked))
		s.say(Plain, same)
	})
	s.only(forMarkdown, func() { s.lines(means, meaning(asked), same) })
	s.only(forMarkdown|forHTML, func() { s.matrices(r, asked) })
}

// differences lists, contender by contender, where answers to odd input differ
// from the reference's: on a terminal a matrix of sentences leaves no room for
// them.
func (s *Section) differences(r *tare.Result, asked []conduct, same string) {
	var known []Item
	for _, class := range tare.DifferenceClasses() {
		if usesClass(asked, class) {
			known = append(known, labelled(string(class), classMeans(class)))
		}
	}
	s.list("", known...)
	s.space()
	s.say(Plain, same)
	var shown []string
	for _, c := range asked {
		if len(c.Differences) == 0 {
			continue
		}
		var items []Item
		for _, class := range classes(c.Differences) {
			it := labelled(or(string(class), nothing), c.listed(class))
			if class == tare.DiffersInValue {
				it.Mark = Warned
			}
			items, shown = append(items, it), append(shown, it.Text)
		}
		s.space()
		s.say(Bold, c.summary(r))
		s.list("", items...)
	}
	s.space()
	s.say(Dim, unlisted(shown))
}

// matrices adds the tables of differences: a row for every property in which
// anybody differs.
func (s *Section) matrices(r *tare.Result, asked []conduct) {
	rows, differ := differing(asked)
	if len(rows) == 0 {
		return
	}
	parts, legend := chunked(differ)
	s.compose(Block{Mark: Dim}, legend)
	for _, each := range parts {
		s.show("", "differences", matrix(rows, each))
	}
	var items []Item
	var shown []string
	for _, c := range asked {
		if len(c.Differences) > 0 {
			items = append(items, unlabelled(Plain, c.summary(r))...)
		}
		for _, p := range rows {
			shown = append(shown, c.field(p))
		}
	}
	s.list("", items...)
	s.say(Dim, unlisted(shown))
}

// listed are c's consequences of one class in a list: all that change a value,
// and of the others one of each property, or mostSays.
func (c conduct) listed(class tare.DifferenceClass) string {
	own := of(c.Differences, class)
	return consequences(own, most(class, max(mostSays, len(properties([]conduct{{Semantics: tare.Semantics{Differences: own}}})))))
}

// differing are the properties in which anybody differs, and who has a column:
// the baseline and those that do.
func differing(asked []conduct) (rows []property, columns []conduct) {
	for _, c := range asked {
		if c.who.Role == tare.RoleBaseline || len(c.Differences) > 0 {
			columns = append(columns, c)
		}
	}
	return properties(asked), columns
}

// chunked are the columns of tables that fit a page, and what their signs mean.
func chunked(columns []conduct) (parts [][]conduct, legend []Field) {
	n := (len(columns) + tableContenders - 1) / tableContenders
	legend = []Field{{Text: likeReference}, {Text: " as the reference; – it could not be asked."}}
	if n > 1 {
		legend = append(legend, Field{Text: " Each table leaves out the properties in which its contenders are all as the reference."})
	}
	return slices.Collect(slices.Chunk(columns, (len(columns)+n-1)/n)), legend
}

// matrix is the table of some contenders, with those of rows in which any of
// them is not as the reference.
func matrix(rows []property, contenders []conduct) Table {
	t := Table{Columns: []Column{{Name: "property"}, {Name: "at worst"}}}
	for _, c := range contenders {
		name := c.who.Title()
		if c.who.Role == tare.RoleBaseline {
			name += " (baseline)"
		}
		t.Columns = append(t.Columns, Column{Name: name})
	}
	for _, p := range rows {
		line, any := Row{Cells: []Field{{Text: literal(p.name)}, {Text: or(string(p.worst), nothing)}}}, false
		for _, c := range contenders {
			text := c.field(p)
			if text == likeReference {
				line.Cells = append(line.Cells, Field{Text: text})
				continue
			}
			any = true
			line.Cells = append(line.Cells, Field{Text: text})
		}
		if any {
			t.Rows = append(t.Rows, line)
		}
	}
	return t
}

// field is what c does with a property: = as the reference, – not asked, or
// the consequences, with their class where it is not the row's.
func (c conduct) field(p property) string {
	var own []tare.Difference
	for _, d := range c.Differences {
		if d.Property == p.name {
			own = append(own, d)
		}
	}
	switch {
	case len(own) == 0 && c.unasked(p.ops):
		return nothing
	case len(own) == 0:
		return likeReference
	}
	var parts []string
	for _, class := range classes(own) {
		text := consequences(of(own, class), most(class, cellSays))
		if class != p.worst {
			text += " (" + string(class) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// most is how many consequences of a class are listed: all of those that
// change a value, n of the others.
func most(class tare.DifferenceClass, n int) int {
	if class == tare.DiffersInValue {
		return 0
	}
	return n
}

// examinedBy says what was asked, against whom answers were held, and what
// follows from a difference.
func examinedBy(r *tare.Result, all []conduct) string {
	least, most := 0, 0
	for _, c := range all {
		if least == 0 || c.Cases > 0 && c.Cases < least {
			least = c.Cases
		}
		most = max(most, c.Cases)
	}
	cases := plural(most, "case")
	if least != most {
		cases = fmt.Sprintf("%s to %s", format.Grouped(float64(least), 0), cases)
	}
	made := "made to find differences"
	if !slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.File == "" }) {
		made = "made of the documents that were given"
	}
	return fmt.Sprintf("Outside of the timing each was asked %s %s, and its answers were compared with %s. They disqualify no contender: they are part of the price.", cases, made, references(all))
}

// meaning explains the classes there are.
func meaning(all []conduct) string {
	var parts []string
	for _, class := range tare.DifferenceClasses() {
		if usesClass(all, class) {
			parts = append(parts, string(class)+": "+classMeans(class))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "How much a difference matters – " + strings.Join(parts, "; ") + "."
}

func usesClass(all []conduct, class tare.DifferenceClass) bool {
	for _, c := range all {
		if len(of(c.Differences, class)) > 0 {
			return true
		}
	}
	return false
}

// alike names those that answered as the reference did, and those that could
// not be asked.
func alike(all []conduct) string {
	var whole, part, none []string
	for _, c := range all {
		switch {
		case len(c.Differences) > 0:
		case c.Cases == 0:
			none = append(none, c.who.Title())
		case len(c.Unsupported) > 0:
			part = append(part, fmt.Sprintf("%s in what it could be asked (not %s)", c.who.Title(), inWords(c.missing())))
		default:
			whole = append(whole, c.who.Title())
		}
	}
	var parts []string
	if len(whole) > 0 {
		parts = append(parts, inWords(whole)+" in every case")
	}
	text := ""
	if parts = append(parts, part...); len(parts) > 0 {
		text = "As the reference: " + strings.Join(parts, "; ") + "."
	}
	if len(none) > 0 {
		text += " Nothing could be asked of " + inWords(none) + "."
	}
	return strings.TrimSpace(text)
}

// summary counts a contender's differences, and says what it could not be
// asked.
func (c conduct) summary(r *tare.Result) string {
	text := fmt.Sprintf("%s differs in %s of %s", c.who.Title(), format.Grouped(float64(len(c.Differences)), 0), plural(c.Cases, "case"))
	if len(c.Unsupported) > 0 {
		text += "; not asked: " + inWords(c.missing())
	}
	if voids := wholly(r, c.who.ID); len(voids) > 0 {
		text += "; void by " + voids[0].Check
	}
	return text
}

// unlisted says where the rest stands where not all that differs was shown, and
// what marks stand for; empty where there is no rest and no mark.
func unlisted(shown []string) string {
	var parts []string
	text := strings.Join(shown, "\n")
	if strings.Contains(text, "; and ") {
		parts = append(parts, "All of them, with what was asked and answered, are in the result document (--format csv lists them too).")
	}
	if strings.Contains(text, "⟨") {
		parts = append(parts, "⟨U+2028⟩ stands for a character that does not print, ⟨ff⟩ for a byte that is no character.")
	}
	return strings.Join(parts, " ")
}
