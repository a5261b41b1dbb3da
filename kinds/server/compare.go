package server

import (
	"encoding/json"
	"fmt"

	"github.com/tarebench/tare/contender/wire"
)

// Compare compares each response of a contender with the app's reference. These are compared: the
// status, and for a success the content type and the body. For some contenders only the status
// counts. The user's own requests have no reference: each must get a status below 400. Compare
// returns the differences, one line each.
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
	for i, answer := range answers {
		if answer.Case < 0 || answer.Case >= len(list) {
			return nil, fmt.Errorf("workload %q: answer for case %d, which was not requested", w.ID, answer.Case)
		}
		if got[i], err = decodeAnswer(answer); err != nil {
			return nil, fmt.Errorf("workload %q: case %d: %w", w.ID, answer.Case, err)
		}
	}
	refs, err := k.responsesByAnswer(w, s, answers, got)
	if err != nil {
		return nil, err
	}
	var wrong []string
	for i, answer := range answers {
		q := list[answer.Case]
		diff := ""
		switch strict := strictness(got[i].Header[strictnessHeader]); {
		case strict == strictUnsent: // there is no response to compare
		case answer.Error != "":
			diff = "no answer: " + answer.Error
		case refs != nil:
			diff = a.firstDifference(refs[i], got[i])
		case got[i].Status >= minError && strict != strictNone:
			diff = fmt.Sprintf("status %d", got[i].Status)
		}
		if diff == "" {
			continue
		}
		property := ""
		if answer.Case < len(probes) && probes[answer.Case].What != "" {
			property = " with " + probes[answer.Case].What
		}
		wrong = append(wrong, fmt.Sprintf("case %d, %s %s%s: %s", answer.Case, q.Method, clipText(q.Path), property, diff))
	}
	return wrong, nil
}

// responsesByAnswer returns the correct response to the case of each answer, or nil. The actual
// responses are in got.
func (k *Kind) responsesByAnswer(w wire.Workload, s spec, answers []wire.Answer, got []Response) ([]Response, error) {
	var sent, cases []int // indexes of answers to requests that were sent, and their cases
	for i, answer := range answers {
		if got[i].Header[strictnessHeader] != string(strictUnsent) {
			sent, cases = append(sent, i), append(cases, answer.Case)
		}
	}
	refs, err := k.expectedResponses(w, s, cases)
	if err != nil || refs == nil {
		return nil, err
	}
	byAnswer := make([]Response, len(answers))
	for n, i := range sent {
		byAnswer[i] = refs[n]
	}
	return byAnswer, nil
}

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

func clipText(s string) string {
	const maxBytes = 60
	if len(s) > maxBytes {
		return s[:maxBytes] + "…"
	}
	return s
}
