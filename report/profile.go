package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
)

const (
	profileHeading = "Where time and memory went"
	profileMeans   = "Profiles were taken after the rounds, outside of all timing. Own is what a function used itself, with calls what it used together with whatever it called. A difference between two contenders is of what functions used themselves; its parts add up to 100 %, those that work against it are below 0, and what the runtime did is named by why it did it."
	profileLines   = 6 // listed functions of a profile
)

// addProfiles adds the costliest functions of each profile, file paths, and the causes of its difference from the
// baseline.
func (s *Section) addProfiles(r *tare.Result) {
	if len(r.Profiles) == 0 {
		return
	}
	s.addText(Dim, profileMeans)
	for i, x := range r.Profiles {
		s.addSpace()
		s.addText(Bold, profileTitle(r, x))
		s.addTable("", "functions", newFunctionTable(x))
		s.addParts(Block{Key: "flame", About: strconv.Itoa(i), Mark: Dim}, describeFiles(x))
		s.addGap(r, x)
	}
}

// profileTitle returns the subject of a profile: "CPU time of chi on static: 510 ns/op over 1,000 operations".
func profileTitle(r *tare.Result, x tare.Profile) string {
	quantity := map[string]string{tare.ProfileCPU: "CPU time", tare.ProfileMem: "Allocated memory"}[x.Of]
	text := fmt.Sprintf("%s of %s on %s", orDefault(quantity, x.Of), contenderTitle(r, x.Contender), x.Workload)
	if x.Ops > 0 && x.Total > 0 {
		unit := map[string]string{"nanoseconds": "ns/op", "bytes": "B/op"}[x.Unit]
		s := newScale(orDefault(unit, x.Unit+"/op"), []float64{x.Total / float64(x.Ops)})
		noun := "operation"
		if v := (&view{r: r, workload: x.Workload}); v.hasRequests() {
			s.unit, noun = requestUnit(s.unit), "request"
		}
		if x.Of == tare.ProfileMem {
			s.decimals = 0
		}
		text += fmt.Sprintf(": %s %s over %s", s.formatValue(x.Total/float64(x.Ops)), s.unit, countNoun(int(x.Ops), noun))
	}
	return text
}

// newFunctionTable returns the costliest functions, without the functions that they call.
func newFunctionTable(x tare.Profile) Table {
	t := Table{Columns: []Column{{Name: "own", Unit: "%", Right: true}, {Name: "with calls", Unit: "%", Right: true}, {Name: "function"}}}
	for _, line := range x.Top[:min(len(x.Top), profileLines)] {
		t.Rows = append(t.Rows, Row{Cells: []Field{{Text: formatPercentOf(line.Flat, x.Total)}, {Text: formatPercentOf(line.Cumulative, x.Total)}, codeField(line.Function)}})
	}
	return t
}

func formatPercentOf(x, total float64) string {
	if !(total > 0) {
		return noValue
	}
	return format.Fixed(x/total*100, 1)
}

// majorVersion matches a module's major version at the start of a name, as in v5.(*Mux).ServeHTTP.
var majorVersion = lazyregexp.New(`^v[0-9]+\.`)

// shortenFunction returns a function's name in at most n characters, without directories:
// github.com/go-chi/chi/v5.(*Mux).ServeHTTP becomes chi/v5.(*Mux).ServeHTTP.
func shortenFunction(name string, n int) string {
	head := name // types after it can contain slashes too
	if i := strings.IndexAny(name, "([{"); i >= 0 {
		head = name[:i]
	}
	if i := strings.LastIndexByte(head, '/'); i >= 0 {
		if majorVersion.MatchString(name[i+1:]) { // the package's name is before the version
			i = strings.LastIndexByte(head[:i], '/')
		}
		name = name[i+1:]
	}
	return format.Clip(oneLine(name), n)
}

// describeFiles returns a sentence with the paths of a profile's files, as marked parts.
func describeFiles(x tare.Profile) []Field {
	var parts []Field
	add := func(file, kind string) {
		switch {
		case file == "":
			return
		case len(parts) == 0:
			parts = []Field{{Text: "Next to the result document: "}}
		default:
			parts = append(parts, Field{Text: " and "})
		}
		parts = append(parts, codeField(file), Field{Text: kind})
	}
	add(x.File, " (pprof)")
	add(x.Flame, " (flame graph)")
	if len(parts) > 0 {
		parts = append(parts, Field{Text: "."})
	}
	return parts
}
