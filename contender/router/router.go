// Package router is the kind of contender that finds the handler for a request
// among many. An author builds a handler from a table of routes and calls
// [Main]:
//
//	func main() { router.Main(build) }
//
//	func build(_ context.Context, spec router.Spec) (http.Handler, error) {
//		mux := http.NewServeMux()
//		for _, route := range spec.Routes {
//			mux.HandleFunc(route.Method+" "+route.BracePath(), func(w http.ResponseWriter, r *http.Request) {
//				route.Reply(w, r.PathValue)
//			})
//		}
//		return spec.Wrap(mux), nil
//	}
//
// Operations, as studies name them:
//
//	serve   one request through the handler in this process, no socket
//	socket  the same over one connection to a real server in this process, so
//	        that a share of a whole request can be said
//
// Frameworks whose handlers are not of net/http bring a [Native] in place of
// the handler.
package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
)

// Kind is what studies call this kind of contender.
const Kind = "router"

// Operations that a study can ask of a router.
const (
	OpServe  = "serve"
	OpSocket = "socket"
)

// UserFixture is the fixture of somebody's own table of routes. A router that
// cannot have such a table says why, and is not merely left out.
const UserFixture = "user"

// Refusal is what its reason begins with.
const Refusal = "it cannot have this table: "

// SetAsk is the word of a workload's set that says which requests are made to
// the table.
const SetAsk = "ask"

// What SetAsk can be. Requests of the last two are for none of the routes, and
// no route may answer them: any status from 300 on is right.
const (
	AskAll        = "all"        // every route in turn
	AskStatic     = "static"     // routes without parameters
	AskParameter  = "parameter"  // with one
	AskParameters = "parameters" // with several
	AskUnknown    = "unknown"    // paths that no route has
	AskMethod     = "method"     // paths of routes, by methods that they have not
)

// refuses reports whether no route may answer the requests of a workload.
func refuses(w wire.Workload) bool {
	return w.Set[SetAsk] == AskUnknown || w.Set[SetAsk] == AskMethod
}

// Build makes a handler that answers spec's routes with their replies, behind
// spec's layers, and refuses everything else. It wraps
// [contender.ErrUnsupported] where the router cannot have such a table.
type Build func(ctx context.Context, spec Spec) (http.Handler, error)

// BuildNative is Build for a stack that does not serve net/http's requests.
type BuildNative func(ctx context.Context, spec Spec) (Native, error)

// Main serves the lab that started this process as one router, and exits.
func Main(b Build) { contender.Main(newHost(map[string]builder{"": whole(b.stack)}).program()) }

// MainNative is [Main] for a stack with requests of its own.
func MainNative(b BuildNative) {
	contender.Main(newHost(map[string]builder{"": whole(b.stack)}).program())
}

// MainParts is [Main] for a router in which a parameter can be a part of a
// segment, as in /files/{name}.json. The others are not asked for such tables.
func MainParts(b Build) { contender.Main(newHost(map[string]builder{"": b.stack}).program()) }

// MainNativeParts is [MainParts] for a stack with requests of its own.
func MainNativeParts(b BuildNative) {
	contender.Main(newHost(map[string]builder{"": b.stack}).program())
}

// whole refuses tables in which a parameter is a part of a segment.
func whole(b builder) builder {
	return func(ctx context.Context, spec Spec) (stack, error) {
		if r := spec.Part(); r != nil {
			return nil, fmt.Errorf("only a whole segment can be a parameter, and there is %s %s: %w", r.Method, r.BracePath(), contender.ErrUnsupported)
		}
		return b(ctx, spec)
	}
}

// Variants is Main for a program that holds several routers by name.
func Variants(builds map[string]Build) {
	builders := map[string]builder{}
	for name, b := range builds {
		builders[name] = whole(b.stack)
	}
	contender.Main(newHost(builders).program())
}

// stack is a contender with a table built.
type stack interface {
	// load makes request q ready to be served time and again.
	load(q wire.HTTPRequest) (Prepared, error)
	listener
}

type builder func(ctx context.Context, spec Spec) (stack, error)

func (b Build) stack(ctx context.Context, spec Spec) (stack, error) {
	h, err := b(ctx, spec)
	switch h := h.(type) {
	case *null:
		return h, err
	case nil:
		if err == nil {
			err = fmt.Errorf("the contender built no handler")
		}
		return nil, err
	}
	return newHandler(h), err
}

func (b BuildNative) stack(ctx context.Context, spec Spec) (stack, error) {
	n, err := b(ctx, spec)
	if err == nil && (n.Prepare == nil || n.Listen == nil) {
		err = fmt.Errorf("the contender built a stack without Prepare or Listen")
	}
	return n, err
}

// host is a program of this kind, and the connection it has open.
type host struct {
	builders map[string]builder
	open     *exchange // of the prepared workload; nil: it has none
}

func newHost(builders map[string]builder) *host { return &host{builders: builders} }

func (h *host) program() contender.Program {
	p := contender.Program{Kind: Kind, Prepare: h.prepare}
	if _, one := h.builders[""]; !one {
		p.Variants = slices.Sorted(maps.Keys(h.builders))
	}
	return p
}

// close ends the server of the prepared workload, where it has one.
func (h *host) close() {
	if h.open != nil {
		h.open.close()
		h.open = nil
	}
}

func (h *host) prepare(variant string, w wire.Workload, bodies [][]byte) (contender.Work, error) {
	h.close()
	if w.Op != OpServe && w.Op != OpSocket {
		return contender.Work{}, contender.ErrUnsupported
	}
	spec, err := ParseSpec(w.Spec)
	if err != nil {
		return contender.Work{}, err
	}
	requests := make([]wire.HTTPRequest, len(bodies))
	for i, body := range bodies {
		if err := json.Unmarshal(body, &requests[i]); err != nil {
			return contender.Work{}, fmt.Errorf("request %d: %w", i, err)
		}
	}
	s, err := h.builders[variant](context.Background(), spec)
	if errors.Is(err, contender.ErrUnsupported) && w.Fixture == UserFixture {
		err = errors.New(Refusal + strings.TrimSuffix(err.Error(), ": "+contender.ErrUnsupported.Error()))
	}
	if err != nil {
		return contender.Work{}, err
	}
	if w.Op == OpSocket {
		if h.open, err = dial(s); err != nil {
			return contender.Work{}, err
		}
		return h.open.work(spec, requests)
	}
	prepared := make([]Prepared, len(requests))
	for i, q := range requests {
		if prepared[i], err = s.load(q); err != nil {
			return contender.Work{}, fmt.Errorf("request %d: %w", i, err)
		}
	}
	return work(spec, prepared, refuses(w)), nil
}

// work serves prepared requests, which routes answer or none may. What Answer
// shows is what Do left behind.
func work(spec Spec, prepared []Prepared, refused bool) contender.Work {
	do := func(i int) (int, error) {
		status, body := prepared[i].Serve()
		if refused != (status >= http.StatusMultipleChoices) || !refused && status != http.StatusOK {
			return len(body), statusError(status)
		}
		return len(body), nil
	}
	return contender.Work{Do: do, Answer: func(i int) (contender.Answered, error) {
		return show(prepared[i].answer(spec))
	}}
}

func statusError(status int) error {
	return fmt.Errorf("the answer has status %d %s", status, http.StatusText(status))
}

// show is an answer as the lab gets it.
func show(a Answer) (contender.Answered, error) {
	out, err := json.Marshal(a)
	return contender.Answered{Output: out, Size: int64(len(a.Body))}, err
}
