package server

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
)

// This file compares responses with correct ones, which the app computes. For some contenders only
// the status must be correct, because they do a part of the work.

const (
	minRejection = 300 // lowest status that is not a success
	minError     = 400 // lowest status of an error response
)

// strictness defines how closely responses are compared with the correct ones.
type strictness string

const (
	strictAll    strictness = ""         // status, content type and body
	strictStatus strictness = "status"   // the contender does only a part of the work
	strictNone   strictness = "anything" // a null contender does no work, and does not serve the app

	// strictUnsent marks a request that the contender's protocol cannot express.
	strictUnsent strictness = "unasked"
)

// strictnessHeader has the strictness of an answer, unless that is strictAll. No server can send
// it, because it is not a valid header name.
const strictnessHeader = ":held"

func (h strictness) reduce(r Response) Response {
	if h == strictAll {
		return r
	}
	return Response{Status: r.Status, Header: map[string]string{strictnessHeader: string(h)}}
}

func (k *Kind) strictnessOf(c tare.Contender, s spec) strictness {
	hasNullApp := !s.Own && k.apps[s.App].Null // the null contender serves the app
	switch {
	case c.Role == tare.RoleNull && !hasNullApp:
		return strictNone
	case c.Role == tare.RoleApart:
		return strictStatus
	}
	return strictAll
}

type referenceKey struct {
	input, app, op string
	n              int
}

// referencesOf returns the correct responses to the requests of w. It returns nil if they are
// unknown, or depend on earlier requests.
func (k *Kind) referencesOf(w wire.Workload, s spec) ([]Response, error) {
	if s.Own {
		return nil, nil
	}
	list, err := k.poolOf(w)
	if err != nil {
		return nil, err
	}
	a, known := k.apps[s.App]
	if !known {
		return nil, fmt.Errorf("workload %q: unknown app %q", w.ID, s.App)
	}
	if a.isChanging(w.Op) {
		return nil, nil
	}
	key := referenceKey{w.Input, s.App, w.Op, w.N}
	k.refsMu.Lock()
	defer k.refsMu.Unlock()
	if refs, ok := k.refs[key]; ok {
		return refs, nil
	}
	refs, err := a.Answers(w, list)
	if err != nil {
		return nil, fmt.Errorf("workload %q: %w", w.ID, err)
	}
	k.refs[key] = refs
	return refs, nil
}

// expectedResponses returns the correct responses to cases of w, sent one after another to a
// service in its initial state, or nil.
func (k *Kind) expectedResponses(w wire.Workload, s spec, cases []int) ([]Response, error) {
	refs, err := k.referencesOf(w, s)
	if err != nil || s.Own {
		return nil, err
	}
	if refs != nil {
		list := make([]Response, len(cases))
		for i, c := range cases {
			list[i] = refs[c]
		}
		return list, nil
	}
	list, err := k.poolOf(w)
	if err != nil {
		return nil, err
	}
	counters := fillCounters{}
	requests := make([]Request, len(cases))
	for i, c := range cases {
		requests[i] = counters.fillRequest(list[c])
	}
	if refs, err = k.apps[s.App].Answers(w, requests); err != nil {
		return nil, fmt.Errorf("workload %q: %w", w.ID, err)
	}
	return refs, nil
}

func (a App) isChanging(op string) bool { return a.Changes != nil && a.Changes(op) }

func (a App) requestsPerOp(op string) int64 {
	if a.Per == nil {
		return 1
	}
	return max(1, a.Per(op))
}

// firstDifference returns the first difference in one line, or "". It also compares the calls of the
// service, if both responses have them.
func (a App) firstDifference(want, got Response) string {
	if diff := a.responseDifference(want, got); diff != "" {
		return diff
	}
	wantCalls, gotCalls := want.Header[calledHeader], got.Header[calledHeader]
	if wantCalls != "" && gotCalls != "" && wantCalls != gotCalls {
		return fmt.Sprintf("want the service to have been called: %s; got %s", wantCalls, gotCalls)
	}
	return ""
}

// responseDifference returns the first difference between two responses, or "". For an error
// response it compares the status and calls a.Refuses.
func (a App) responseDifference(want, got Response) string {
	switch strict := strictness(got.Header[strictnessHeader]); {
	case strict == strictNone, strict == strictUnsent:
		return ""
	case want.Status != got.Status:
		return fmt.Sprintf("want status %d, got %d", want.Status, got.Status)
	case strict == strictStatus:
		return ""
	case want.Status >= minRejection:
		if a.Refuses == nil {
			return ""
		}
		return a.Refuses(want, got)
	case want.Header[ContentType] != got.Header[ContentType]:
		return fmt.Sprintf("want content type %q, got %q", want.Header[ContentType], got.Header[ContentType])
	case !a.sameBody(want.Body, got.Body):
		return fmt.Sprintf("want body %q, got %q", clipText(string(want.Body)), clipText(string(got.Body)))
	}
	return ""
}

func (a App) sameBody(want, got []byte) bool {
	return bytes.Equal(want, got) || a.Same != nil && a.Same(want, got)
}

// checkSound returns a function for load.Options.Verify that checks general properties of responses
// by a.Sound.
func (w *work) checkSound(a App) func(request, status int, body []byte) error {
	return func(i, status int, body []byte) error {
		got := w.decodeResponse(i, Response{Status: status, Body: body})
		if d := a.Sound(w.workload, w.original[i], got); d != "" {
			return errors.New(w.pool[i].Method + " " + clipText(w.pool[i].Path) + ": " + d)
		}
		return nil
	}
}

func (w *work) decodeResponse(i int, got Response) Response {
	if w.dialect.Decode == nil {
		return got
	}
	return w.dialect.Decode(w.original[i], got)
}

// checkEqual returns a function for load.Options.Verify that compares responses with the reference.
// The threads that send requests call it, so it must be fast. It does not parse bodies that equal an
// earlier correct one.
func (w *work) checkEqual(a App) func(request, status int, body []byte) error {
	// lastCorrect has the last correct body that differs from the reference's in bytes. The key is
	// the address of the reference's body.
	lastCorrect := map[*byte]*atomic.Pointer[[]byte]{}
	for _, want := range w.refs {
		if len(want.Body) > 0 && lastCorrect[&want.Body[0]] == nil {
			lastCorrect[&want.Body[0]] = new(atomic.Pointer[[]byte])
		}
	}
	return func(i, status int, body []byte) error {
		want := w.refs[i]
		var last *atomic.Pointer[[]byte]
		if status == want.Status && len(want.Body) > 0 {
			last = lastCorrect[&want.Body[0]]
			if b := last.Load(); b != nil && bytes.Equal(*b, body) {
				return nil
			}
		}
		got := w.decodeResponse(i, Response{Status: status, Header: want.Header, Body: body})
		if d := a.firstDifference(want, got); d != "" {
			return errors.New(w.pool[i].Method + " " + clipText(w.pool[i].Path) + ": " + d)
		}
		if last != nil && !bytes.Equal(want.Body, body) {
			b := bytes.Clone(body)
			last.Store(&b)
		}
		return nil
	}
}
