package server

import (
	"encoding/json"
	"fmt"

	"github.com/tarebench/tare/contender/wire"
)

// Compare holds each answer against the app's reference: the status, and where
// that is 200 the content type without its parameters and the body. Of the
// answers of some contenders only the status counts. To a user's own requests
// there is no reference: an answer must come, with a status below 400.
func (k *Kind) Compare(w wire.Workload, answers []wire.Answer) ([]string, error) {
	list, err := k.pool(w)
	if err != nil {
		return nil, err
	}
	s, err := specOf(w)
	if err != nil {
		return nil, err
	}
	a := k.apps[s.App]
	var probes []Probe
	if w.Op == OpProbes && !s.Own {
		probes = a.Probes()
	}
	got := make([]Response, len(answers))
	var asked, place []int // cases that were asked, and where among them an answer's is
	for i, one := range answers {
		if one.Case < 0 || one.Case >= len(list) {
			return nil, fmt.Errorf("workload %q: answer for case %d, which was not asked", w.ID, one.Case)
		}
		if got[i], err = read(one); err != nil {
			return nil, fmt.Errorf("workload %q: case %d: %w", w.ID, one.Case, err)
		}
		place = append(place, len(asked))
		if got[i].Header[heldBy] != string(holdUnasked) {
			asked = append(asked, one.Case)
		}
	}
	refs, err := k.expected(w, s, asked)
	if err != nil {
		return nil, err
	}
	var wrong []string
	for i, one := range answers {
		q := list[one.Case]
		var diff string
		switch held := holding(got[i].Header[heldBy]); {
		case held == holdUnasked:
		case one.Error != "":
			diff = "no answer: " + one.Error
		case refs != nil:
			diff = a.differ(refs[place[i]], got[i])
		case got[i].Status >= leastError && held != holdAny:
			diff = fmt.Sprintf("status %d", got[i].Status)
		}
		if diff != "" {
			what := ""
			if one.Case < len(probes) && probes[one.Case].What != "" {
				what = " with " + probes[one.Case].What
			}
			wrong = append(wrong, fmt.Sprintf("case %d, %s %s%s: %s", one.Case, q.Method, clip(q.Path), what, diff))
		}
	}
	return wrong, nil
}

// read unpacks an answer.
func read(a wire.Answer) (Response, error) {
	var r Response
	if a.Error != "" {
		return r, nil
	}
	if err := json.Unmarshal(a.Output, &r); err != nil {
		return r, fmt.Errorf("not a Response: %w", err)
	}
	return r, nil
}

// clip is at most a few words of a text.
func clip(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
