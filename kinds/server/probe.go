package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// Ops of what is asked besides workloads. Contenders do not see the difference.
const (
	opProbes = "probes"
	opExam   = "exam"
)

// Probes writes what each app that works ask for must refuse.
func (k *Kind) Probes(dir string, works []wire.Workload) ([]wire.Workload, error) {
	known := apps()
	var list []wire.Workload
	seen := map[string]bool{}
	for _, w := range works {
		s, err := specOf(w)
		if err != nil {
			return nil, err
		}
		a, ok := known[s.App]
		if !ok || s.Own || seen[s.App] {
			continue
		}
		seen[s.App] = true
		var requests []request
		for _, p := range a.probes() {
			requests = append(requests, p.request)
		}
		in, err := k.write(dir, requests, spec{App: s.App})
		if err != nil {
			return nil, fmt.Errorf("write probes of %s: %w", s.App, err)
		}
		in.ID, in.Fixture, in.Op = s.App+"/"+opProbes, s.App, opProbes
		list = append(list, in)
	}
	return list, nil
}

// Exams writes the questions of each app that an input in dir is for: none
// where all requests are the user's own, as their server need not be one of
// the apps.
func (k *Kind) Exams(dir string) ([]wire.Workload, error) {
	k.mu.Lock()
	asked := slices.Sorted(maps.Keys(k.asked[dir]))
	k.mu.Unlock()
	var list []wire.Workload
	for _, name := range asked {
		var requests []request
		for _, q := range apps()[name].questions() {
			requests = append(requests, q.request)
		}
		in, err := k.write(dir, requests, spec{App: name})
		if err != nil {
			return nil, fmt.Errorf("write exam of %s: %w", name, err)
		}
		in.ID, in.Fixture, in.Op = name+"/"+opExam, name, opExam
		list = append(list, in)
	}
	return list, nil
}

// Reference names what exams are held against.
func (k *Kind) Reference() string { return "the contract" }

// Differ holds one answer to a question against the app's reference. Nothing of
// that disqualifies: it is where servers are known to differ.
func (k *Kind) Differ(exam wire.Workload, a wire.Answer) (tare.Difference, bool) {
	app, ok := apps()[exam.Fixture]
	if !ok {
		return tare.Difference{}, false
	}
	questions := app.questions()
	refs, err := k.references(exam, spec{App: exam.Fixture})
	if err != nil || a.Case < 0 || a.Case >= min(len(refs), len(questions)) {
		return tare.Difference{}, false
	}
	q, want := questions[a.Case], refs[a.Case]
	if q.asked == "" {
		q.asked = q.Method + " " + q.Path
	}
	got, err := read(a)
	d := tare.Difference{
		Property: q.property, Op: opExam, Case: q.name, BearsOn: q.bearsOn,
		Asked: legible(q.asked, tableMost), Reference: shown(want), Got: shown(got),
	}
	switch {
	case a.Error != "" || err != nil:
		d.Class, d.Got = tare.DiffersInAcceptance, legible("no answer: "+a.Error, tableMost)
		d.Says = fmt.Sprintf("does not answer %s", q.what)
	case app.differ(want, got) == "":
		return tare.Difference{}, false
	case got.Status != want.Status:
		d.Class = tare.DiffersInAcceptance
		if (got.Status < http.StatusMultipleChoices) == (want.Status < http.StatusMultipleChoices) {
			d.Class = tare.DiffersInForm
		}
		d.Says = fmt.Sprintf("answers %d to %s, not %d", got.Status, q.what, want.Status)
	case got.Status >= leastRefusal:
		d.Class = tare.DiffersInForm
		d.Says = fmt.Sprintf("refuses %s without naming an error", q.what)
	case sameValue(want, got):
		d.Class = tare.DiffersInForm
		d.Says = fmt.Sprintf("writes %s as %s", q.what, legible(string(got.Body), sentenceMost))
	default:
		d.Class = tare.DiffersInValue
		d.Says = fmt.Sprintf("answers %s to %s", legible(string(got.Body), sentenceMost), q.what)
	}
	return d, true
}

// sameValue reports whether two answers of one type are JSON and mean the same.
func sameValue(want, got response) bool {
	return want.Header[contentType] == got.Header[contentType] && sameJSON(want.Body, got.Body)
}

// Characters of an answer, in a sentence and in the table.
const (
	sentenceMost = 40
	tableMost    = 80
)

// shown is a response in a few words.
func shown(r response) string {
	if r.Status != http.StatusOK {
		return fmt.Sprint(r.Status)
	}
	return legible(fmt.Sprintf("%d %s", r.Status, r.Body), tableMost)
}

// legible is at most so many characters of a text, in one line.
func legible(text string, most int) string {
	r := []rune(fixture.Legible([]byte(strings.TrimSpace(text))))
	if len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return string(r)
}
