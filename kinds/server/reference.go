package server

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
)

// holding is how closely the answers of a contender are compared with the
// reference.
type holding string

const (
	holdWhole  holding = ""
	holdStatus holding = "status"   // of those that do another job, or part of one
	holdAny    holding = "anything" // of the null contender, where it does not know the app

	// holdUnasked is that of a case which the contender's protocol has no words
	// for.
	holdUnasked holding = "unasked"
)

// heldBy is where an answer says that it was cut down to what counts. No server
// can say that: it is no name of a header.
const heldBy = ":held"

// cut is what of an answer is compared.
func (h holding) cut(r Response) Response {
	if h == holdWhole {
		return r
	}
	return Response{Status: r.Status, Header: map[string]string{heldBy: string(h)}}
}

// holdingOf is how a contender is compared with an app.
func (k *Kind) holdingOf(c tare.Contender, s spec) holding {
	switch {
	case c.Role == tare.RoleNull && (s.Own || !k.apps[s.App].Null):
		return holdAny
	case c.Role == tare.RoleApart:
		return holdStatus
	}
	return holdWhole
}

// referenceKey is what references depend on.
type referenceKey struct {
	input, app, op string
	n              int
}

// references are what the requests of w should be answered; nil where nobody
// knows, or where that depends on what was asked before. They are worked out
// once.
func (k *Kind) references(w wire.Workload, s spec) ([]Response, error) {
	if s.Own {
		return nil, nil
	}
	list, err := k.pool(w)
	if err != nil {
		return nil, err
	}
	a, known := k.apps[s.App]
	if !known {
		return nil, fmt.Errorf("workload %q: unknown app %q", w.ID, s.App)
	}
	if a.changes(w.Op) {
		return nil, nil
	}
	key := referenceKey{w.Input, s.App, w.Op, w.N}
	k.working.Lock()
	defer k.working.Unlock()
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

// expected are what cases of w should be answered that are asked one after the
// other, of a service that nothing else was asked before; nil where nobody knows.
func (k *Kind) expected(w wire.Workload, s spec, cases []int) ([]Response, error) {
	refs, err := k.references(w, s)
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
	list, err := k.pool(w)
	if err != nil {
		return nil, err
	}
	from := counters{}
	asked := make([]Request, len(cases))
	for i, c := range cases {
		asked[i] = from.fill(list[c])
	}
	if refs, err = k.apps[s.App].Answers(w, asked); err != nil {
		return nil, fmt.Errorf("workload %q: %w", w.ID, err)
	}
	return refs, nil
}

// changes reports whether what op asks for changes the service.
func (a App) changes(op string) bool { return a.Changes != nil && a.Changes(op) }

// per is how many requests one operation takes.
func (a App) per(op string) int64 {
	if a.Per == nil {
		return 1
	}
	return max(1, a.Per(op))
}

// differ is the first difference in one line, or nothing: in what was answered,
// or in what the service was called for until then.
func (a App) differ(want, got Response) string {
	if said := a.unlike(want, got); said != "" {
		return said
	}
	if want, got := want.Header[calledFor], got.Header[calledFor]; want != "" && got != "" && want != got {
		return fmt.Sprintf("want the service to have been called: %s; got %s", want, got)
	}
	return ""
}

// unlike is the first difference between two answers. Of a refusal it is its
// status and what else the app wants of one.
func (a App) unlike(want, got Response) string {
	switch by := holding(got.Header[heldBy]); {
	case by == holdAny, by == holdUnasked:
		return ""
	case want.Status != got.Status:
		return fmt.Sprintf("want status %d, got %d", want.Status, got.Status)
	case by == holdStatus:
		return ""
	case want.Status >= leastRefusal:
		if a.Refuses == nil {
			return ""
		}
		return a.Refuses(want, got)
	case want.Header[ContentType] != got.Header[ContentType]:
		return fmt.Sprintf("want content type %q, got %q", want.Header[ContentType], got.Header[ContentType])
	case !a.sameBody(want.Body, got.Body):
		return fmt.Sprintf("want body %q, got %q", clip(string(want.Body)), clip(string(got.Body)))
	}
	return ""
}

// Lowest statuses of answers that do not say yes, and of those that say no.
const (
	leastRefusal = 300
	leastError   = 400
)

func (a App) sameBody(want, got []byte) bool {
	return bytes.Equal(want, got) || a.Same != nil && a.Same(want, got)
}

// sound holds the sample of answers that load looks at against what can be said
// of any right one.
func (w *work) sound(a App) func(request, status int, body []byte) error {
	return func(i, status int, body []byte) error {
		got := w.meant(i, Response{Status: status, Body: body})
		if d := a.Sound(w.in, w.asked[i], got); d != "" {
			return errors.New(w.pool[i].Method + " " + clip(w.pool[i].Path) + ": " + d)
		}
		return nil
	}
}

// meant is what an answer to request i means in the words of the reference.
func (w *work) meant(i int, got Response) Response {
	if w.dialect.Decode == nil {
		return got
	}
	return w.dialect.Decode(w.asked[i], got)
}

// verify holds the sample of answers that load looks at against the reference.
// It is called by the threads that send, so that what was seen before is not
// read again: equal bytes are enough, those of the reference or the last ones
// that said the same.
func (w *work) verify(a App) func(request, status int, body []byte) error {
	seen := map[*byte]*atomic.Pointer[[]byte]{} // by the reference's body, which equal ones share
	for _, want := range w.refs {
		if len(want.Body) > 0 && seen[&want.Body[0]] == nil {
			seen[&want.Body[0]] = new(atomic.Pointer[[]byte])
		}
	}
	return func(i, status int, body []byte) error {
		want := w.refs[i]
		var last *atomic.Pointer[[]byte]
		if status == want.Status && len(want.Body) > 0 {
			last = seen[&want.Body[0]]
			if b := last.Load(); b != nil && bytes.Equal(*b, body) {
				return nil
			}
		}
		got := w.meant(i, Response{Status: status, Header: want.Header, Body: body})
		if d := a.differ(want, got); d != "" {
			return errors.New(w.pool[i].Method + " " + clip(w.pool[i].Path) + ": " + d)
		}
		if last != nil && !bytes.Equal(want.Body, body) {
			b := bytes.Clone(body)
			last.Store(&b)
		}
		return nil
	}
}
