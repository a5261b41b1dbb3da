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
	"github.com/tarebench/tare/internal/format"
)

// This file makes requests beside those of workloads. Probes are invalid requests, which every
// server must reject. Questions are valid ones on which servers differ, such as a doubled slash.

// Ops of requests that do not belong to a workload of the study.
const (
	OpProbes = "probes" // invalid requests, which a contender must reject
	OpExam   = "exam"   // valid requests, to which servers respond differently
)

// Maximum numbers of characters of a response.
const (
	maxSentence  = 40
	maxTableText = 80
)

// Probes writes the requests that each app of works must reject.
func (k *Kind) Probes(dir string, works []wire.Workload) ([]wire.Workload, error) {
	var list []wire.Workload
	seen := map[string]bool{}
	for _, w := range works {
		s, err := specOf(w)
		if err != nil {
			return nil, err
		}
		a, ok := k.apps[s.App]
		if !ok || s.Own || seen[s.App] {
			continue
		}
		seen[s.App] = true
		var requests []Request
		for _, p := range a.Probes() {
			requests = append(requests, p.Request)
		}
		if len(requests) == 0 {
			continue
		}
		in, err := k.writePool(dir, requests, spec{App: s.App})
		if err == nil {
			err = k.writeClientPool(dir, in.Input, a)
		}
		if err != nil {
			return nil, fmt.Errorf("write probes of %s: %w", s.App, err)
		}
		in.ID, in.Fixture, in.Op = s.App+"/"+OpProbes, s.App, OpProbes
		list = append(list, in)
	}
	return list, nil
}

// Exams writes the requests of semantics tests of each app that has an input in dir. The user's own
// requests have no tests, because their server need not be an app.
func (k *Kind) Exams(dir string) ([]wire.Workload, error) {
	k.mu.Lock()
	names := slices.Sorted(maps.Keys(k.appsByDir[dir]))
	k.mu.Unlock()
	var list []wire.Workload
	for _, name := range names {
		var requests []Request
		for _, q := range k.apps[name].Questions() {
			requests = append(requests, q.Request)
		}
		if len(requests) == 0 {
			continue
		}
		in, err := k.writePool(dir, requests, spec{App: name})
		if err == nil {
			err = k.writeClientPool(dir, in.Input, k.apps[name])
		}
		if err != nil {
			return nil, fmt.Errorf("write semantics test of %s: %w", name, err)
		}
		in.ID, in.Fixture, in.Op = name+"/"+OpExam, name, OpExam
		list = append(list, in)
	}
	return list, nil
}

// Reference returns the name of what answers to questions are compared with.
func (k *Kind) Reference() string { return "the contract" }

// Differ compares one answer to a question with the app's reference. It returns false without a
// difference. A difference does not disqualify a contender.
func (k *Kind) Differ(in wire.Workload, a wire.Answer) (tare.Difference, bool) {
	app, ok := k.apps[in.Fixture]
	if !ok {
		return tare.Difference{}, false
	}
	questions := app.Questions()
	if a.Case < 0 || a.Case >= min(in.Bodies, len(questions)) {
		return tare.Difference{}, false
	}
	refs, err := k.expectedResponses(in, spec{App: in.Fixture}, []int{a.Case})
	if err != nil {
		return tare.Difference{}, false
	}
	q, want := questions[a.Case], refs[0]
	if q.Asked == "" {
		q.Asked = q.Method + " " + q.Path
	}
	got, err := decodeAnswer(a)
	d := tare.Difference{
		Property: q.Property, Op: OpExam, Case: q.Name, BearsOn: q.BearsOn,
		Asked: clipLegible(q.Asked, maxTableText), Reference: formatResponse(want), Got: formatResponse(got),
	}
	switch {
	case a.Error != "" || err != nil:
		d.Class, d.Got = tare.DiffersInAcceptance, clipLegible("no answer: "+a.Error, maxTableText)
		d.Says = fmt.Sprintf("does not answer %s", q.What)
	case app.responseDifference(want, got) == "" && q.isSamePart(want, got):
		return tare.Difference{}, false
	default:
		app.describeDifference(&d, q, want, got)
	}
	return d, true
}

// isSamePart reports whether the part of the bodies that the question is about is equal. Bodies that
// are not compared have the strictness header.
func (q Question) isSamePart(want, got Response) bool {
	return q.Look == nil || got.Header[strictnessHeader] != "" || q.Look(want.Body) == q.Look(got.Body)
}

func (a App) describeDifference(d *tare.Difference, q Question, want, got Response) {
	switch {
	case got.Status != want.Status:
		d.Class = tare.DiffersInAcceptance
		if (got.Status < http.StatusMultipleChoices) == (want.Status < http.StatusMultipleChoices) {
			d.Class = tare.DiffersInForm
		}
		d.Says = fmt.Sprintf("answers %d to %s, not %d", got.Status, q.What, want.Status)
	case got.Status >= minRejection:
		d.Class = tare.DiffersInForm
		d.Says = fmt.Sprintf("refuses %s without naming an error", q.What)
	case q.Look != nil && a.sameBody(want.Body, got.Body):
		d.Class = tare.DiffersInForm
		d.Reference, d.Got = clipLegible(q.Look(want.Body), maxTableText), clipLegible(q.Look(got.Body), maxTableText)
		d.Says = fmt.Sprintf("writes %s as %s", q.What, clipLegible(q.Look(got.Body), maxSentence))
	case sameValue(want, got):
		d.Class = tare.DiffersInForm
		d.Says = fmt.Sprintf("writes %s as %s", q.What, clipLegible(string(got.Body), maxSentence))
	default:
		d.Class = tare.DiffersInValue
		d.Says = fmt.Sprintf("answers %s to %s", clipLegible(string(got.Body), maxSentence), q.What)
	}
}

func sameValue(want, got Response) bool {
	return want.Header[ContentType] == got.Header[ContentType] && SameJSON(want.Body, got.Body)
}

// formatResponse returns the status of a response and, if it is 200, the start of its body.
func formatResponse(r Response) string {
	if r.Status != http.StatusOK {
		return fmt.Sprint(r.Status)
	}
	return clipLegible(fmt.Sprintf("%d %s", r.Status, r.Body), maxTableText)
}

// clipLegible returns text in one line of visible characters, at most limit of them.
func clipLegible(text string, limit int) string {
	return format.Clip(fixture.Legible([]byte(strings.TrimSpace(text))), limit)
}
