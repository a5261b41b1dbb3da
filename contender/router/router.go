// Package router is for contenders (programs to measure) with an HTTP router: it finds the handler of a
// request among many routes. An author builds a handler from a table of routes, and calls [Main]:
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
//	socket  the same over one connection to a real server in this process
//
// Frameworks with other handlers than net/http return a [Native].
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

// Operations of a router.
const (
	OpServe  = "serve"
	OpSocket = "socket"
)

// UserFixture is the user's own table of routes. A router that does not support it shows the reason. With
// other fixtures it is only absent from results.
const UserFixture = "user"

// Refusal begins the reason why a router does not support a user's table.
const Refusal = "it cannot have this table: "

// SetAsk is the key of a workload's set that selects the requests to the table.
const SetAsk = "ask"

// Values of SetAsk. AskUnknown and AskMethod match no route, so any status from 300 on is correct.
const (
	AskAll        = "all"        // every route in turn
	AskStatic     = "static"     // routes without parameters
	AskParameter  = "parameter"  // routes with one parameter
	AskParameters = "parameters" // routes with several parameters
	AskUnknown    = "unknown"    // paths that no route has
	AskMethod     = "method"     // paths of routes with methods that they do not have
)

func mustReject(w wire.Workload) bool {
	return w.Set[SetAsk] == AskUnknown || w.Set[SetAsk] == AskMethod
}

// Build makes a handler for spec's routes, with spec's layers. It rejects all other requests. For an
// unsupported table the error wraps [contender.ErrUnsupported].
type Build func(ctx context.Context, spec Spec) (http.Handler, error)

// BuildNative is Build for a stack that does not serve net/http's requests.
type BuildNative func(ctx context.Context, spec Spec) (Native, error)

// stack is a router for one table.
type stack interface {
	loadRequest(q wire.HTTPRequest) (Prepared, error)
	serverStarter
}

type builder func(ctx context.Context, spec Spec) (stack, error)

// Main runs this process as one router, and exits. It does not support a table with a parameter in a part of a
// segment.
func Main(b Build) {
	contender.Main(newHost(map[string]builder{"": rejectParts(b.newStack)}).newProgram())
}

// MainNative is [Main] for a stack that does not serve net/http's requests.
func MainNative(b BuildNative) {
	contender.Main(newHost(map[string]builder{"": rejectParts(b.newStack)}).newProgram())
}

// MainParts is [Main] for routers that support a parameter in a part of a segment, as in /files/{name}.json.
func MainParts(b Build) { contender.Main(newHost(map[string]builder{"": b.newStack}).newProgram()) }

// MainNativeParts is [MainParts] for a stack that does not serve net/http's requests.
func MainNativeParts(b BuildNative) {
	contender.Main(newHost(map[string]builder{"": b.newStack}).newProgram())
}

func rejectParts(b builder) builder {
	return func(ctx context.Context, spec Spec) (stack, error) {
		if r := spec.Part(); r != nil { // the first such route
			return nil, fmt.Errorf("only a whole segment can be a parameter, and there is %s %s: %w", r.Method, r.BracePath(), contender.ErrUnsupported)
		}
		return b(ctx, spec)
	}
}

// Variants is Main for a program with several routers, the variants. builds has them by name.
func Variants(builds map[string]Build) {
	builders := map[string]builder{}
	for name, b := range builds {
		builders[name] = rejectParts(b.newStack)
	}
	contender.Main(newHost(builders).newProgram())
}

func (b Build) newStack(ctx context.Context, spec Spec) (stack, error) {
	h, err := b(ctx, spec)
	switch h := h.(type) {
	case *null: // a stack itself
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

type host struct {
	builders map[string]builder // key is the variant, or ""
	socket   *loopback          // nil unless the operation is OpSocket
}

func newHost(builders map[string]builder) *host { return &host{builders: builders} }

func (h *host) newProgram() contender.Program {
	p := contender.Program{Kind: Kind, Prepare: h.prepareOp}
	if _, isSingle := h.builders[""]; !isSingle {
		p.Variants = slices.Sorted(maps.Keys(h.builders))
	}
	return p
}

func (h *host) close() {
	if h.socket != nil {
		h.socket.close()
		h.socket = nil
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
		if h.socket, err = dialServer(s); err != nil {
			return contender.Work{}, err
		}
		return h.socket.newWork(spec, requests)
	}
	prepared := make([]Prepared, len(requests))
	for i, q := range requests {
		if prepared[i], err = s.loadRequest(q); err != nil {
			return contender.Work{}, fmt.Errorf("request %d: %w", i, err)
		}
	}
	return newWork(spec, prepared, mustReject(w)), nil
}

// newWork returns the work that serves prepared requests in this process. Only status 200 is correct, or with
// mustReject a status from 300 on.
func newWork(spec Spec, prepared []Prepared, mustReject bool) contender.Work {
	do := func(i int) (int, error) {
		status, body := prepared[i].Serve()
		correct := status == http.StatusOK
		if mustReject {
			correct = status >= http.StatusMultipleChoices
		}
		if !correct {
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

func encodeAnswer(a Answer) (contender.Answered, error) {
	out, err := json.Marshal(a)
	return contender.Answered{Output: out, Size: int64(len(a.Body))}, err
}
