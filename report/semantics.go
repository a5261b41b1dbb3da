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
	maxListed        = 6   // consequences of one class in a list; changes of values are all listed
	maxInCell        = 3   // the same for a cell or a sentence
	tableContenders  = 5   // contenders that fit a table
	likeReference    = "=" // cell of a contender like the reference
)

// addSemantics adds the cases in which a contender's output differs from the reference. A terminal has lists,
// other formats have tables.
func (s *Section) addSemantics(r *tare.Result) {
	tested := listBehaviours(r)
	if len(tested) == 0 {
		return
	}
	means, alike := explainSemantics(r, tested), describeAlike(tested)
	s.addOnly(forText, func() {
		s.addText(Dim, means)
		s.addDifferences(r, tested, alike)
	})
	s.addOnly(forHTML, func() {
		s.addText(Dim, means, explainClasses(tested))
		s.addText(Plain, alike)
	})
	s.addOnly(forMarkdown, func() { s.addLines(means, explainClasses(tested), alike) })
	s.addOnly(forMarkdown|forHTML, func() { s.addMatrices(r, tested) })
}

// addDifferences lists the differences by contender, because a matrix of sentences does not fit a terminal. alike
// is about contenders without differences.
func (s *Section) addDifferences(r *tare.Result, tested []behaviour, alike string) {
	var classes []Item
	for _, class := range tare.DifferenceClasses() {
		if usesClass(tested, class) {
			classes = append(classes, labelledItem(string(class), explainClass(class)))
		}
	}
	s.addList("", classes...)
	s.addSpace()
	s.addText(Plain, alike)
	var shown []string // printed texts with marks to explain
	for _, c := range tested {
		if len(c.Differences) == 0 {
			continue
		}
		var items []Item
		for _, class := range listClasses(c.Differences) {
			item := labelledItem(orDefault(string(class), noValue), c.describeClass(class))
			if class == tare.DiffersInValue {
				item.Mark = Warned
			}
			items = append(items, item)
			shown = append(shown, item.Text)
		}
		s.addSpace()
		s.addText(Bold, c.summarize(r))
		s.addList("", items...)
	}
	s.addSpace()
	s.addText(Dim, explainMarks(shown))
}

func (s *Section) addMatrices(r *tare.Result, tested []behaviour) {
	rows, columns := differingRows(tested)
	if len(rows) == 0 {
		return
	}
	chunks, legend := chunkColumns(columns)
	s.addParts(Block{Mark: Dim}, legend)
	for _, chunk := range chunks {
		s.addTable("", "differences", newMatrix(rows, chunk))
	}
	var items []Item
	var shown []string
	for _, c := range tested {
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

// describeClass returns the consequences of c's differences of one class for a list.
func (c behaviour) describeClass(class tare.DifferenceClass) string {
	differences := ofClass(c.Differences, class)
	properties := listProperties([]behaviour{{Semantics: tare.Semantics{Differences: differences}}})
	return describeConsequences(differences, limitFor(class, max(maxListed, len(properties))))
}

// differingRows returns the properties with differences as rows. Columns are the baseline and the differing
// contenders. Contenders that behave alike share a column.
func differingRows(tested []behaviour) (rows []property, columns [][]behaviour) {
	rows = listProperties(tested)
	for _, c := range tested {
		if c.contender.Role != tare.RoleBaseline && len(c.Differences) == 0 {
			continue
		}
		isLike := func(column []behaviour) bool {
			return !slices.ContainsFunc(rows, func(p property) bool { return column[0].propertyText(p) != c.propertyText(p) })
		}
		if i := slices.IndexFunc(columns, isLike); i >= 0 {
			columns[i] = append(columns[i], c)
			continue
		}
		columns = append(columns, []behaviour{c})
	}
	return rows, columns
}

// chunkColumns splits columns into chunks that fit a table, of about equal size. It returns the legend of signs
// too. columns is not empty.
func chunkColumns(columns [][]behaviour) (chunks [][][]behaviour, legend []Field) {
	n := (len(columns) + tableContenders - 1) / tableContenders // rounded up
	legend = []Field{{Text: likeReference}, {Text: " as the reference; – it could not be asked."}}
	if n > 1 {
		legend = append(legend, Field{Text: " Each table leaves out the properties in which its contenders are all as the reference."})
	}
	return slices.Collect(slices.Chunk(columns, (len(columns)+n-1)/n)), legend
}

// newMatrix returns the table of some columns, with the rows in which they differ from the reference.
func newMatrix(rows []property, columns [][]behaviour) Table {
	t := Table{Columns: []Column{{Name: "property"}, {Name: "at worst"}}}
	for _, column := range columns {
		var names []string
		for _, c := range column {
			name := c.contender.Title()
			if c.contender.Role == tare.RoleBaseline {
				name += " (baseline)"
			}
			names = append(names, name)
		}
		t.Columns = append(t.Columns, Column{Name: strings.Join(names, ", ")})
	}
	for _, p := range rows {
		row := Row{Cells: []Field{{Text: showLiteral(p.name)}, {Text: orDefault(string(p.worst), noValue)}}}
		isAllAlike := true // all behave as the reference
		for _, column := range columns {
			text := column[0].propertyText(p)
			isAllAlike = isAllAlike && text == likeReference
			row.Cells = append(row.Cells, Field{Text: text})
		}
		if !isAllAlike {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// propertyText returns the cell of c for a property. "=" is like the reference, "–" is untested. Consequences have
// their class if it is not the row's.
func (c behaviour) propertyText(p property) string {
	var differences []tare.Difference
	for _, d := range c.Differences {
		if d.Property == p.name {
			differences = append(differences, d)
		}
	}
	switch {
	case len(differences) == 0 && c.isUntested(p.ops):
		return noValue
	case len(differences) == 0:
		return likeReference
	}
	var parts []string
	for _, class := range listClasses(differences) {
		text := describeConsequences(ofClass(differences, class), limitFor(class, maxInCell))
		if class != p.worst {
			text += " (" + string(class) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// limitFor returns n or, for changed values, 0: no maximum.
func limitFor(class tare.DifferenceClass, n int) int {
	if class == tare.DiffersInValue {
		return 0
	}
	return n
}

// explainSemantics returns the text above the differences.
func explainSemantics(r *tare.Result, all []behaviour) string {
	fewest, most := 0, 0 // cases of a contender, if any
	for _, c := range all {
		if isFewer := c.Cases > 0 && c.Cases < fewest; isFewer || fewest == 0 {
			fewest = c.Cases
		}
		most = max(most, c.Cases)
	}
	cases := countNoun(most, "case")
	if fewest != most {
		cases = fmt.Sprintf("%s to %s", format.Grouped(float64(fewest), 0), cases)
	}
	origin := "made to find differences"
	hasFixture := slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.File == "" })
	if !hasFixture { // all input is the user's
		origin = "made of the documents that were given"
	}
	return fmt.Sprintf("Outside of the timing each was asked %s %s, and its answers were compared with %s. They disqualify no contender: they are part of the price.%s",
		cases, origin, joinReferences(all), describeSilent(r, all))
}

// describeSilent names the traps (deliberate mistakes) that return errors instead of answers. Their outputs differ
// only by being empty.
func describeSilent(r *tare.Result, all []behaviour) string {
	var ids []string
	for _, c := range all {
		isSilent := slices.ContainsFunc(r.Voids(c.contender.ID, ""), func(f tare.Finding) bool { return f.Check == "error-in-loop" })
		if c.contender.Role == tare.RoleTrap && isSilent {
			ids = append(ids, c.contender.Title())
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return " " + joinNames(ids) + format.Choose(len(ids), " returns errors", " return errors") + " instead of answers: what differs below is an empty value."
}

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
	return slices.ContainsFunc(all, func(c behaviour) bool { return len(ofClass(c.Differences, class)) > 0 })
}

// describeAlike names the contenders like the reference, and those not tested.
func describeAlike(all []behaviour) string {
	var complete, partial, untested []string
	for _, c := range all {
		switch {
		case len(c.Differences) > 0: // not alike
		case c.Cases == 0:
			untested = append(untested, c.contender.Title())
		case len(c.Unsupported) > 0:
			partial = append(partial, fmt.Sprintf("%s in what it could be asked (not %s)", c.contender.Title(), joinNames(c.listUnsupported())))
		default:
			complete = append(complete, c.contender.Title())
		}
	}
	var parts []string
	if len(complete) > 0 {
		parts = append(parts, joinNames(complete)+" in every case")
	}
	parts = append(parts, partial...)
	text := ""
	if len(parts) > 0 {
		text = "As the reference: " + strings.Join(parts, "; ") + "."
	}
	if len(untested) > 0 {
		text += " Nothing could be asked of " + joinNames(untested) + "."
	}
	return strings.TrimSpace(text)
}

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

// explainMarks explains "and 3 more" and the marks of unprintable characters, if they occur.
func explainMarks(shown []string) string {
	var parts []string
	text := strings.Join(shown, "\n")
	if hasUnlisted := strings.Contains(text, "; and "); hasUnlisted { // from describeConsequences
		parts = append(parts, "All of them, with what was asked and answered, are in the result document (--format csv lists them too).")
	}
	if hasUnprintable := strings.Contains(text, "⟨"); hasUnprintable { // from showLiteral
		parts = append(parts, "⟨U+2028⟩ stands for a character that does not print, ⟨ff⟩ for a byte that is no character.")
	}
	return strings.Join(parts, " ")
}
