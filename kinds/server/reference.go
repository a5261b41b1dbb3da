package server

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
)

// holding is how closely the answers of a contender are held against the
// reference.
type holding string

const (
	holdWhole  holding = ""
	holdStatus holding = "status"   // of those that do another job, or part of one
	holdAny    holding = "anything" // of the null contender, where it does not know the app
)

// heldBy is where an answer says that it was cut down to what counts. No server
// can say that: it is no name of a header.
const heldBy = ":held"

// cut is what of an answer is compared.
func (h holding) cut(r response) response {
	if h == holdWhole {
		return r
	}
	return response{Status: r.Status, Header: map[string]string{heldBy: string(h)}}
}

// holdingOf is how a contender is held against an app.
func holdingOf(c tare.Contender, s spec) holding {
	switch {
	case c.Role == tare.RoleNull && (s.Own || !apps()[s.App].null):
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
// knows. They are worked out once.
func (k *Kind) references(w wire.Workload, s spec) ([]response, error) {
	if s.Own {
		return nil, nil
	}
	list, err := k.pool(w)
	if err != nil {
		return nil, err
	}
	a, known := apps()[s.App]
	if !known {
		return nil, fmt.Errorf("workload %q: unknown app %q", w.ID, s.App)
	}
	key := referenceKey{w.Input, s.App, w.Op, w.N}
	k.working.Lock()
	defer k.working.Unlock()
	if refs, ok := k.refs[key]; ok {
		return refs, nil
	}
	refs, err := a.answers(w, list)
	if err != nil {
		return nil, fmt.Errorf("workload %q: %w", w.ID, err)
	}
	k.refs[key] = refs
	return refs, nil
}

// differ is the first difference in one line, or nothing. Of a refusal it is
// its status and what else the app wants of one.
func (a app) differ(want, got response) string {
	switch by := holding(got.Header[heldBy]); {
	case by == holdAny:
		return ""
	case want.Status != got.Status:
		return fmt.Sprintf("want status %d, got %d", want.Status, got.Status)
	case by == holdStatus:
		return ""
	case want.Status >= leastRefusal:
		if a.refuses == nil {
			return ""
		}
		return a.refuses(got)
	case want.Header[contentType] != got.Header[contentType]:
		return fmt.Sprintf("want content type %q, got %q", want.Header[contentType], got.Header[contentType])
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

func (a app) sameBody(want, got []byte) bool {
	return bytes.Equal(want, got) || a.same != nil && a.same(want, got)
}

// verify holds the sample of answers that load looks at against the reference.
// It is called by the threads that send, so that what was seen before is not
// read again: equal bytes are enough, those of the reference or the last ones
// that said the same.
func (w *work) verify(a app) func(request, status int, body []byte) error {
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
		got := response{Status: status, Header: want.Header, Body: body}
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
