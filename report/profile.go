package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
)

const (
	profileHeading = "Where time and memory went"
	profileMeans   = "Profiles were taken after the rounds, outside of all timing. Own is what a function used itself, with calls what it used together with whatever it called. A difference between two contenders is of what functions used themselves; its parts add up to 100 %, those that work against it are below 0, and what the runtime did is named by why it did it."
	profileLines   = 6 // functions of a profile that are listed
)

func (s *Section) profiles(r *tare.Result) {
	if len(r.Profiles) == 0 {
		return
	}
	s.say(Dim, profileMeans)
	for i, x := range r.Profiles {
		s.space()
		s.say(Bold, profiled(r, x))
		s.show("", "functions", functions(x))
		s.compose(Block{Key: "flame", About: strconv.Itoa(i), Mark: Dim}, filed(x))
		s.gap(r, x)
	}
}

// profiled says what a profile is of.
func profiled(r *tare.Result, x tare.Profile) string {
	what := map[string]string{tare.ProfileCPU: "CPU time", tare.ProfileMem: "Allocated memory"}[x.Of]
	text := fmt.Sprintf("%s of %s on %s", or(what, x.Of), title(r, x.Contender), x.Workload)
	if x.Ops > 0 && x.Total > 0 {
		unit := map[string]string{"nanoseconds": "ns/op", "bytes": "B/op"}[x.Unit]
		s := scaleFor(or(unit, x.Unit+"/op"), []float64{x.Total / float64(x.Ops)})
		one := "operation"
		if v := (&view{r: r, workload: x.Workload}); v.ofRequests() {
			s.unit, one = perRequest(s.unit), "request"
		}
		if x.Of == tare.ProfileMem {
			s.decimals = 0
		}
		text += fmt.Sprintf(": %s %s over %s", s.print(x.Total/float64(x.Ops)), s.unit, plural(int(x.Ops), one))
	}
	return text
}

// functions are those with the most of their own.
func functions(x tare.Profile) Table {
	t := Table{Columns: []Column{{Name: "own", Unit: "%", Right: true}, {Name: "with calls", Unit: "%", Right: true}, {Name: "function"}}}
	for _, line := range x.Top[:min(len(x.Top), profileLines)] {
		t.Rows = append(t.Rows, Row{Cells: []Field{{Text: hundredth(line.Flat, x.Total)}, {Text: hundredth(line.Cumulative, x.Total)}, coded(line.Function)}})
	}
	return t
}

// hundredth prints x as a percentage of total, without the sign.
func hundredth(x, total float64) string {
	if !(total > 0) {
		return nothing
	}
	return fixed(x/total*100, 1)
}

// major matches what begins with the version at the end of a module's path.
var major = regexp.MustCompile(`^v[0-9]+\.`)

// shortFunction is a function's name without the directory of its package, in
// n characters at most.
func shortFunction(name string, n int) string {
	head := name
	if i := strings.IndexAny(name, "([{"); i >= 0 {
		head = name[:i]
	}
	if i := strings.LastIndexByte(head, '/'); i >= 0 {
		if major.MatchString(name[i+1:]) { // of a module's path: its name is before it
			i = strings.LastIndexByte(head[:i], '/')
		}
		name = name[i+1:]
	}
	return shortened(oneLine(name), n)
}

// filed says where the files of a profile are.
func filed(x tare.Profile) []Field {
	var parts []Field
	add := func(file, is string) {
		switch {
		case file == "":
			return
		case len(parts) == 0:
			parts = []Field{{Text: "Beside the result document: "}}
		default:
			parts = append(parts, Field{Text: " and "})
		}
		parts = append(parts, coded(file), Field{Text: is})
	}
	add(x.File, " (pprof)")
	add(x.Flame, " (flame graph)")
	if len(parts) > 0 {
		parts = append(parts, Field{Text: "."})
	}
	return parts
}
