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
	refs, err := k.references(w, s)
	if err != nil {
		return nil, err
	}
	a := apps()[s.App]
	var probes []probe
	if w.Op == opProbes && !s.Own {
		probes = a.probes()
	}
	var wrong []string
	for _, got := range answers {
		if got.Case < 0 || got.Case >= len(list) {
			return nil, fmt.Errorf("workload %q: answer for case %d, which was not asked", w.ID, got.Case)
		}
		q := list[got.Case]
		var diff string
		switch r, err := read(got); {
		case got.Error != "":
			diff = "no answer: " + got.Error
		case err != nil:
			return nil, fmt.Errorf("workload %q: case %d: %w", w.ID, got.Case, err)
		case refs != nil:
			diff = a.differ(refs[got.Case], r)
		case r.Status >= leastError && r.Header[heldBy] != string(holdAny):
			diff = fmt.Sprintf("status %d", r.Status)
		}
		if diff != "" {
			what := ""
			if got.Case < len(probes) && probes[got.Case].what != "" {
				what = " with " + probes[got.Case].what
			}
			wrong = append(wrong, fmt.Sprintf("case %d, %s %s%s: %s", got.Case, q.Method, clip(q.Path), what, diff))
		}
	}
	return wrong, nil
}

// read unpacks an answer.
func read(a wire.Answer) (response, error) {
	var r response
	if a.Error != "" {
		return r, nil
	}
	if err := json.Unmarshal(a.Output, &r); err != nil {
		return r, fmt.Errorf("not a response: %w", err)
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
