package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tarebench/tare/contender/wire"
)

// Compare holds each answer against the app's reference: the status, and where
// that is 200 the content type without its parameters and the body. To a user's
// own requests there is none: an answer must come, with a status below 400.
func (k *Kind) Compare(w wire.Workload, answers []wire.Answer) ([]string, error) {
	list, err := k.pool(w)
	if err != nil {
		return nil, err
	}
	s, err := specOf(w)
	if err != nil {
		return nil, err
	}
	a, known := apps()[s.App]
	if !known && !s.Own {
		return nil, fmt.Errorf("workload %q: unknown app %q", w.ID, s.App)
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
		case s.Own && r.Status >= http.StatusBadRequest:
			diff = fmt.Sprintf("status %d", r.Status)
		case !s.Own:
			diff = differ(a.answer(q), r)
		}
		if diff != "" {
			wrong = append(wrong, fmt.Sprintf("case %d, %s %s: %s", got.Case, q.Method, clip(q.Path), diff))
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

// differ is the first difference in one line, or nothing. A refusal is its
// status.
func differ(want, got response) string {
	switch {
	case want.Status != got.Status:
		return fmt.Sprintf("want status %d, got %d", want.Status, got.Status)
	case want.Status != http.StatusOK:
		return ""
	case want.Header[contentType] != got.Header[contentType]:
		return fmt.Sprintf("want content type %q, got %q", want.Header[contentType], got.Header[contentType])
	case !bytes.Equal(want.Body, got.Body):
		return fmt.Sprintf("want body %q, got %q", clip(string(want.Body)), clip(string(got.Body)))
	}
	return ""
}

// clip is at most a few words of a text.
func clip(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
