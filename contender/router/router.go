// Package router is the kind of contender that matches a request to one handler
// of many. An author builds a handler from a table of routes and calls
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
//	        that the share of the router in a whole request is known
//
// Frameworks whose handlers are not those of net/http return a [Native] in place of
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

// UserFixture is the fixture of a user's own table of routes. A router that does not support the table gives
// the reason and is not only absent from the results.
const UserFixture = "user"

// Refusal is the start of that reason.
const Refusal = "it cannot have this table: "

// SetAsk is the key of a workload's set that selects the requests to the table.
const SetAsk = "ask"

// Values of SetAsk. Requests of the last two match none of the routes, and
// no route may respond: any status from 300 on is correct.
const (
	AskAll        = "all"        // every route in turn
	AskStatic     = "static"     // routes without parameters
	AskParameter  = "parameter"  // with one
	AskParameters = "parameters" // with several
	AskUnknown    = "unknown"    // paths that no route has
	AskMethod     = "method"     // paths of routes with methods that they do not have
)

// mustReject reports whether the router must reject the requests of a workload.
func mustReject(w wire.Workload) bool {
	return w.Set[SetAsk] == AskUnknown || w.Set[SetAsk] == AskMethod
}

// Build makes a handler that responds to spec's routes with their replies, with spec's layers applied, and
// rejects everything else. The error wraps [contender.ErrUnsupported] if the router does not support such a
// table.
type Build func(ctx context.Context, spec Spec) (http.Handler, error)

// BuildNative is Build for a stack that does not serve net/http's requests.
type BuildNative func(ctx context.Context, spec Spec) (Native, error)

// Main serves the lab that started this process as one router, and exits.
func Main(b Build) {
	contender.Main(newHost(map[string]builder{"": rejectParts(b.newStack)}).newProgram())
}

// MainNative is [Main] for a stack with requests of its own.
func MainNative(b BuildNative) {
	contender.Main(newHost(map[string]builder{"": rejectParts(b.newStack)}).newProgram())
}

// MainParts is [Main] for a router in which a parameter can be a part of a
// segment, as in /files/{name}.json. Others receive no such table.
func MainParts(b Build) { contender.Main(newHost(map[string]builder{"": b.newStack}).newProgram()) }

// MainNativeParts is [MainParts] for a stack with requests of its own.
func MainNativeParts(b BuildNative) {
	contender.Main(newHost(map[string]builder{"": b.newStack}).newProgram())
}

// rejectParts returns b with an error for tables in which a parameter is a part of a segment.
func rejectParts(b builder) builder {
	return func(ctx context.Context, spec Spec) (stack, error) {
		if r := spec.Part(); r != nil {
			return nil, fmt.Errorf("only a whole segment can be a parameter, and there is %s %s: %w", r.Method, r.BracePath(), contender.ErrUnsupported)
		}
		return b(ctx, spec)
	}
}

// Variants is Main for a program with several routers by name.
func Variants(builds map[string]Build) {
	builders := map[string]builder{}
	for name, b := range builds {
		builders[name] = rejectParts(b.newStack)
	}
	contender.Main(newHost(builders).newProgram())
}

// stack is a contender with its table built.
type stack interface {
	// loadRequest makes request q ready to be served repeatedly.
	loadRequest(q wire.HTTPRequest) (Prepared, error)
	listener
}

type builder func(ctx context.Context, spec Spec) (stack, error)

func (b Build) newStack(ctx context.Context, spec Spec) (stack, error) {
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

func (b BuildNative) newStack(ctx context.Context, spec Spec) (stack, error) {
	n, err := b(ctx, spec)
	if err == nil && (n.Prepare == nil || n.Listen == nil) {
		err = fmt.Errorf("the contender built a stack without Prepare or Listen")
	}
	return n, err
}

// host is a program of this kind and its open connection.
type host struct {
	builders map[string]builder
	open     *exchange // of the prepared workload; nil if it has none
}

func newHost(builders map[string]builder) *host { return &host{builders: builders} }

func (h *host) newProgram() contender.Program {
	p := contender.Program{Kind: Kind, Prepare: h.prepareOp}
	if _, one := h.builders[""]; !one {
		p.Variants = slices.Sorted(maps.Keys(h.builders))
	}
	return p
}

// close ends the server of the prepared workload if it has one.
func (h *host) close() {
	if h.open != nil {
		h.open.close()
		h.open = nil
	}
}

func (h *host) prepareOp(variant string, w wire.Workload, bodies [][]byte) (contender.Work, error) {
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
		if h.open, err = dialServer(s); err != nil {
			return contender.Work{}, err
		}
		return h.open.newWork(spec, requests)
	}
	prepared := make([]Prepared, len(requests))
	for i, q := range requests {
		if prepared[i], err = s.loadRequest(q); err != nil {
			return contender.Work{}, fmt.Errorf("request %d: %w", i, err)
		}
	}
	return newWork(spec, prepared, mustReject(w)), nil
}

// newWork serves prepared requests. rejected: no route may respond to them. Its Answer returns the response to
// the call of Do before it.
func newWork(spec Spec, prepared []Prepared, refused bool) contender.Work {
	do := func(i int) (int, error) {
		status, body := prepared[i].Serve()
		if refused != (status >= http.StatusMultipleChoices) || !refused && status != http.StatusOK {
			return len(body), statusError(status)
		}
		return len(body), nil
	}
	return contender.Work{Do: do, Answer: func(i int) (contender.Answered, error) {
		return encodeAnswer(prepared[i].serveOnce(spec))
	}}
}

func statusError(status int) error {
	return fmt.Errorf("the answer has status %d %s", status, http.StatusText(status))
}

// encodeAnswer encodes a response for the lab.
func encodeAnswer(a Answer) (contender.Answered, error) {
	out, err := json.Marshal(a)
	return contender.Answered{Output: out, Size: int64(len(a.Body))}, err
}
