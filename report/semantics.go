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
	maxListed        = 6 // consequences of a class without changed values that a list has, or one per property
	maxInCell        = 3 // the same in a field of a table
	tableContenders  = 5 // columns of one table, so that it fits a page
	likeReference    = "="
)

func (s *Section) addSemantics(r *tare.Result) {
	asked := listBehaviours(r)
	if len(asked) == 0 {
		return
	}
	means, same := explainSemantics(r, asked), describeAlike(asked)
	s.addOnly(forText, func() {
		s.addText(Dim, means)
		s.addDifferences(r, asked, same)
	})
	s.addOnly(forHTML, func() {
		s.addText(Dim, means, explainClasses(asked))
		s.addText(Plain, same)
	})
	s.addOnly(forMarkdown, func() { s.addLines(means, explainClasses(asked), same) })
	s.addOnly(forMarkdown|forHTML, func() { s.addMatrices(r, asked) })
}

// addDifferences lists the semantic differences contender by contender: a matrix of sentences does not fit a
// terminal.
func (s *Section) addDifferences(r *tare.Result, asked []behaviour, same string) {
	var known []Item
	for _, class := range tare.DifferenceClasses() {
		if usesClass(asked, class) {
			known = append(known, labelledItem(string(class), explainClass(class)))
		}
	}
	s.addList("", known...)
	s.addSpace()
	s.addText(Plain, same)
	var shown []string
	for _, c := range asked {
		if len(c.Differences) == 0 {
			continue
		}
		var items []Item
		for _, class := range listClasses(c.Differences) {
			it := labelledItem(orDefault(string(class), nothing), c.describeClass(class))
			if class == tare.DiffersInValue {
				it.Mark = Warned
			}
			items, shown = append(items, it), append(shown, it.Text)
		}
		s.addSpace()
		s.addText(Bold, c.summarize(r))
		s.addList("", items...)
	}
	s.addSpace()
	s.addText(Dim, explainMarks(shown))
}

// addMatrices adds tables with a row per property in which any contender differs.
func (s *Section) addMatrices(r *tare.Result, asked []behaviour) {
	rows, differ := differingRows(asked)
	if len(rows) == 0 {
		return
	}
	parts, legend := chunkColumns(differ)
	s.addParts(Block{Mark: Dim}, legend)
	for _, each := range parts {
		s.addTable("", "differences", newMatrix(rows, each))
	}
	var items []Item
	var shown []string
	for _, c := range asked {
		if len(c.Differences) > 0 {
			items = append(items, unlabelledItems(Plain, c.summarize(r))...)
		}
		for _, p := range rows {
			shown = append(shown, c.propertyText(p))
		}
	}
	s.addList("", items...)
	s.addText(Dim, explainMarks(shown))
}

// describeClass returns c's consequences of one class for a list: all that change a value, and of other
// classes maxListed or one per property.
func (c behaviour) describeClass(class tare.DifferenceClass) string {
	own := ofClass(c.Differences, class)
	return describeConsequences(own, limitFor(class, max(maxListed, len(listProperties([]behaviour{{Semantics: tare.Semantics{Differences: own}}})))))
}

// differingRows returns the properties in which any contender differs, and the contenders with a column: the
// baseline and those that differ.
func differingRows(asked []behaviour) (rows []property, columns []behaviour) {
	for _, c := range asked {
		if c.contender.Role == tare.RoleBaseline || len(c.Differences) > 0 {
			columns = append(columns, c)
		}
	}
	return listProperties(asked), columns
}

// chunkColumns splits columns into tables that fit a page, and returns the legend of their signs.
func chunkColumns(columns []behaviour) (parts [][]behaviour, legend []Field) {
	n := (len(columns) + tableContenders - 1) / tableContenders
	legend = []Field{{Text: likeReference}, {Text: " as the reference; – it could not be asked."}}
	if n > 1 {
		legend = append(legend, Field{Text: " Each table leaves out the properties in which its contenders are all as the reference."})
	}
	return slices.Collect(slices.Chunk(columns, (len(columns)+n-1)/n)), legend
}

// newMatrix returns the table of some contenders, with the rows in which any of them differs from the
// reference.
func newMatrix(rows []property, contenders []behaviour) Table {
	t := Table{Columns: []Column{{Name: "property"}, {Name: "at worst"}}}
	for _, c := range contenders {
		name := c.contender.Title()
		if c.contender.Role == tare.RoleBaseline {
			name += " (baseline)"
		}
		t.Columns = append(t.Columns, Column{Name: name})
	}
	for _, p := range rows {
		line, any := Row{Cells: []Field{{Text: showLiteral(p.name)}, {Text: orDefault(string(p.worst), nothing)}}}, false
		for _, c := range contenders {
			text := c.propertyText(p)
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

// propertyText returns the behaviour of c in a property: = like the reference, – not tested, or the
// consequences, with their class if it is not the row's.
func (c behaviour) propertyText(p property) string {
	var own []tare.Difference
	for _, d := range c.Differences {
		if d.Property == p.name {
			own = append(own, d)
		}
	}
	switch {
	case len(own) == 0 && c.isUntested(p.ops):
		return nothing
	case len(own) == 0:
		return likeReference
	}
	var parts []string
	for _, class := range listClasses(own) {
		text := describeConsequences(ofClass(own, class), limitFor(class, maxInCell))
		if class != p.worst {
			text += " (" + string(class) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// limitFor returns how many consequences of a class are listed: 0, which means all, if they change a value,
// otherwise n.
func limitFor(class tare.DifferenceClass, n int) int {
	if class == tare.DiffersInValue {
		return 0
	}
	return n
}

// explainSemantics returns the number of cases and the references, and that differences do not disqualify.
func explainSemantics(r *tare.Result, all []behaviour) string {
	least, most := 0, 0
	for _, c := range all {
		if least == 0 || c.Cases > 0 && c.Cases < least {
			least = c.Cases
		}
		most = max(most, c.Cases)
	}
	cases := countNoun(most, "case")
	if least != most {
		cases = fmt.Sprintf("%s to %s", format.Grouped(float64(least), 0), cases)
	}
	made := "made to find differences"
	if !slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.File == "" }) {
		made = "made of the documents that were given"
	}
	return fmt.Sprintf("Outside of the timing each was asked %s %s, and its answers were compared with %s. They disqualify no contender: they are part of the price.", cases, made, joinReferences(all))
}

// explainClasses explains the classes that occur.
func explainClasses(all []behaviour) string {
	var parts []string
	for _, class := range tare.DifferenceClasses() {
		if usesClass(all, class) {
			parts = append(parts, string(class)+": "+explainClass(class))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "How much a difference matters – " + strings.Join(parts, "; ") + "."
}

func usesClass(all []behaviour, class tare.DifferenceClass) bool {
	for _, c := range all {
		if len(ofClass(c.Differences, class)) > 0 {
			return true
		}
	}
	return false
}

// describeAlike names the contenders that behaved like the reference, and those that could not be tested.
func describeAlike(all []behaviour) string {
	var whole, part, none []string
	for _, c := range all {
		switch {
		case len(c.Differences) > 0:
		case c.Cases == 0:
			none = append(none, c.contender.Title())
		case len(c.Unsupported) > 0:
			part = append(part, fmt.Sprintf("%s in what it could be asked (not %s)", c.contender.Title(), joinNames(c.listUnsupported())))
		default:
			whole = append(whole, c.contender.Title())
		}
	}
	var parts []string
	if len(whole) > 0 {
		parts = append(parts, joinNames(whole)+" in every case")
	}
	text := ""
	if parts = append(parts, part...); len(parts) > 0 {
		text = "As the reference: " + strings.Join(parts, "; ") + "."
	}
	if len(none) > 0 {
		text += " Nothing could be asked of " + joinNames(none) + "."
	}
	return strings.TrimSpace(text)
}

// summarize counts a contender's differences and names the operations that it does not support.
func (c behaviour) summarize(r *tare.Result) string {
	text := fmt.Sprintf("%s differs in %s of %s", c.contender.Title(), format.Grouped(float64(len(c.Differences)), 0), countNoun(c.Cases, "case"))
	if len(c.Unsupported) > 0 {
		text += "; not asked: " + joinNames(c.listUnsupported())
	}
	if voids := voidsOfAll(r, c.contender.ID); len(voids) > 0 {
		text += "; void by " + voids[0].Check
	}
	return text
}

// explainMarks returns where the unlisted differences are, and explains the marks for unprintable characters.
// It returns "" if neither occurs.
func explainMarks(shown []string) string {
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
