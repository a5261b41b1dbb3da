package server

import (
	"encoding/json"
	"fmt"

	"github.com/tarebench/tare/contender/wire"
)

// Compare compares each answer with the app's reference: the status, and if that is 200 the content
// type without its parameters and the body. Of the answers of some contenders only the status
// counts. The user's own requests have no reference: an answer must come, with a status below 400.
func (k *Kind) Compare(w wire.Workload, answers []wire.Answer) ([]string, error) {
	list, err := k.poolOf(w)
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
	var asked, place []int // cases that were sent, and the index of an answer's among them
	for i, one := range answers {
		if one.Case < 0 || one.Case >= len(list) {
			return nil, fmt.Errorf("workload %q: answer for case %d, which was not asked", w.ID, one.Case)
		}
		if got[i], err = decodeAnswer(one); err != nil {
			return nil, fmt.Errorf("workload %q: case %d: %w", w.ID, one.Case, err)
		}
		place = append(place, len(asked))
		if got[i].Header[strictnessHeader] != string(strictUnsent) {
			asked = append(asked, one.Case)
		}
	}
	refs, err := k.expectedResponses(w, s, asked)
	if err != nil {
		return nil, err
	}
	var wrong []string
	for i, one := range answers {
		q := list[one.Case]
		var diff string
		switch held := strictness(got[i].Header[strictnessHeader]); {
		case held == strictUnsent:
		case one.Error != "":
			diff = "no answer: " + one.Error
		case refs != nil:
			diff = a.firstDifference(refs[place[i]], got[i])
		case got[i].Status >= minError && held != strictNone:
			diff = fmt.Sprintf("status %d", got[i].Status)
		}
		if diff != "" {
			what := ""
			if one.Case < len(probes) && probes[one.Case].What != "" {
				what = " with " + probes[one.Case].What
			}
			wrong = append(wrong, fmt.Sprintf("case %d, %s %s%s: %s", one.Case, q.Method, clipText(q.Path), what, diff))
		}
	}
	return wrong, nil
}

// decodeAnswer unpacks an answer.
func decodeAnswer(a wire.Answer) (Response, error) {
	var r Response
	if a.Error != "" {
		return r, nil
	}
	if err := json.Unmarshal(a.Output, &r); err != nil {
		return r, fmt.Errorf("not a Response: %w", err)
	}
	return r, nil
}

// clipText returns at most a few words of a text.
func clipText(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
