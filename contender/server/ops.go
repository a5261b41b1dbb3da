package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Ops answers requests that all services answer alike, before the app and its framework (stack):
//
//	GET /              lists the routes, unless the app has this route
//	GET /health/live   200 as long as the process answers
//	GET /health/ready  200, or 503 with the reason
//	GET /metrics       metrics of the app and the server, as OpenMetrics if accepted
//	GET /openapi.json  the OpenAPI document, unless the app has this route
//	OPTIONS *          the methods of all routes
//	421                another host is named in a request to a loopback address
//	401                the required token is missing
//	404                unknown path; the message names the most similar one
//	405                Ops has a page at the path, but none for the method
//	415                the type of the body is not accepted, or may come from other sites
//
// A server that tare measures has no Ops: a nil Ops answers nothing.
type Ops struct {
	name     string
	service  Service
	routes   []route
	all      []route            // includes those of Ops
	openAPI  []byte             // nil without a document
	token    *[sha256.Size]byte // hash; nil if none is required
	receipts *Receipts          // for /metrics
	limits   *limits            // for /metrics
	budget   *budget            // for /metrics
	started  time.Time
	ending   *atomic.Bool
	claimed  atomic.Bool // the stack, or a handler in it, calls Answer
	hosts    *hosts      // allowed hosts; nil allows all
	gated    bool        // a gate calls Answer before the stack sees HTTP/1

	// line writes to the access log. It may be nil.
	line func(method, path string, status int, took time.Duration)
}

// Question is the part of a request that Ops uses.
type Question struct {
	Method, Path  string
	Host          string
	Authorization string
	ContentType   string
	Accept        string
}

// Page is an answer of Ops.
type Page struct {
	Status      int
	ContentType string
	Header      [2]string // name and value of one more header; "" for none
	Body        []byte
}

const (
	typeJSON        = "application/json"
	typeText        = "text/plain; charset=utf-8"
	typePrometheus  = "text/plain; version=0.0.4; charset=utf-8"
	typeOpenMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"
)

// Claim reports whether the caller must call Answer for each request. A stack that speaks only HTTP/2, and is
// not made by [HTTP2], must call Claim once. For HTTP/1 the gate, which reads requests first, calls Answer. o
// may be nil.
func (o *Ops) Claim() bool {
	if o != nil {
		o.claimed.Store(true)
	}
	return o != nil
}

// Handler returns a handler that calls next for requests that o does not answer. It returns next if o is nil.
func (o *Ops) Handler(next http.Handler) http.Handler {
	if !o.Claim() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o.gated && r.ProtoMajor == 1 { // the gate has called Answer
			next.ServeHTTP(w, r)
			return
		}
		h := r.Header
		reply, ok := o.Answer(Question{Method: r.Method, Path: r.URL.Path, Host: r.Host, Authorization: h.Get("Authorization"), ContentType: h.Get("Content-Type"), Accept: h.Get("Accept")})
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		h = w.Header()
		h.Set("Content-Type", reply.ContentType)
		h.Set("Content-Length", strconv.Itoa(len(reply.Body)))
		if reply.Header[0] != "" {
			h.Set(reply.Header[0], reply.Header[1])
		}
		w.WriteHeader(reply.Status)
		if r.Method != http.MethodHead {
			_, _ = w.Write(reply.Body) // fails if the client has disconnected
		}
	})
}

// Answer answers a request. It returns false if the app must answer.
func (o *Ops) Answer(q Question) (Page, bool) {
	if o == nil {
		return Page{}, false
	}
	started := time.Now()
	reply, ok := o.findPage(q)
	if ok && o.line != nil {
		o.line(q.Method, q.Path, reply.Status, time.Since(started))
	}
	return reply, ok
}

// findPage returns the page for a request, or an error response. It returns false if the app must answer. Only
// pages of publicPage need no token.
func (o *Ops) findPage(q Question) (Page, bool) {
	if !o.hosts.hasHost(q.Host) {
		return o.errorPage(http.StatusMisdirectedRequest, "this is served at a loopback address, and the request is for another host"), true
	}
	isKnownPath, isAppRoute := o.matchRoute(q)
	if page, ok := o.publicPage(q, isAppRoute); ok {
		return page, true
	}
	appNeedsNoToken := q.Path == "/health" || isHealthCall(q.Path) || q.Method == http.MethodOptions
	if appNeedsNoToken {
		return Page{}, false
	}
	if o.token != nil && !o.hasBearer(q.Authorization) {
		reply := o.errorPage(http.StatusUnauthorized, "a bearer token is required")
		reply.Header = [2]string{"WWW-Authenticate", "Bearer"}
		return reply, true
	}
	return o.rejectForApp(q, isKnownPath, isAppRoute)
}

// publicPage returns a page of Ops, which anybody may read. isAppRoute means that the app answers / and
// /openapi.json itself.
func (o *Ops) publicPage(q Question, isAppRoute bool) (Page, bool) {
	if q.Path == "*" {
		allMethods := o.listMethods(func(string) bool { return true })
		return Page{Status: http.StatusOK, ContentType: typeText, Header: [2]string{"Allow", strings.Join(allMethods, ", ")}}, true
	}
	if !isReadMethod(q.Method) {
		return Page{}, false
	}
	switch q.Path {
	case "/health/live":
		return Page{Status: http.StatusOK, ContentType: typeText, Body: []byte("alive\n")}, true
	case "/health/ready":
		return o.readyPage(), true
	case "/metrics":
		return o.metricsPage(q.Accept), true
	case "/openapi.json":
		if !isAppRoute && o.openAPI != nil {
			return Page{Status: http.StatusOK, ContentType: typeJSON, Body: o.openAPI}, true
		}
	case "/":
		if !isAppRoute {
			return o.indexPage(), true
		}
	}
	return Page{}, false
}

// rejectForApp returns an error response if the app cannot answer: the path is unknown, the method is not
// allowed, or the type of the body is not accepted. matchRoute returns the last two parameters.
func (o *Ops) rejectForApp(q Question, isKnownPath, isAppRoute bool) (Page, bool) {
	isUnknownPath := len(o.routes) > 0 && !isKnownPath && !isRPC(q) // any path may be the app's if there are no routes
	switch {
	case isUnknownPath:
		return o.errorPage(http.StatusNotFound, o.notFoundMessage(q.Path)), true
	case !isReadMethod(q.Method) && !isAppRoute && o.hasPage(q.Path):
		allowed := strings.Join(o.listMethods(func(pattern string) bool { return matchesPattern(pattern, q.Path) }), ", ")
		reply := o.errorPage(http.StatusMethodNotAllowed, "this path takes "+allowed)
		reply.Header = [2]string{"Allow", allowed}
		return reply, true
	case isWriteMethod(q.Method) && !o.acceptsType(q):
		return o.rejectType(q), true
	}
	return Page{}, false
}

func isReadMethod(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// hasPage reports whether Ops answers GET at path. If the app's routes are unknown, / and /openapi.json may be
// the app's.
func (o *Ops) hasPage(path string) bool {
	switch path {
	case "/health/live", "/health/ready", "/metrics":
		return true
	case "/", "/openapi.json":
		get := route{"GET", path}
		isAppRoute := slices.Contains(o.routes, get)
		return len(o.routes) > 0 && slices.Contains(o.all, get) && !isAppRoute
	}
	return false
}

// listMethods returns the sorted methods of the routes that match. HEAD is included only for pages of Ops: not
// every stack answers it.
func (o *Ops) listMethods(matches func(pattern string) bool) (list []string) {
	for _, r := range o.all {
		if !matches(r.path) {
			continue
		}
		if list = append(list, r.method); o.hasPage(r.path) {
			list = append(list, "HEAD")
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (o *Ops) rejectType(q Question) Page {
	switch accepted := strings.Join(o.service.Types, ", "); {
	case isRPC(q):
		return o.errorPage(http.StatusUnsupportedMediaType, "a call needs the Content-Type of its protocol, such as application/grpc, application/proto or application/json")
	case accepted != "":
		reply := o.errorPage(http.StatusUnsupportedMediaType, "a body needs a Content-Type that is taken here: "+accepted)
		reply.Header = [2]string{"Accept", accepted}
		return reply
	}
	return o.errorPage(http.StatusUnsupportedMediaType, "a body needs a Content-Type, such as application/json, but not text/plain or that of a form")
}

// isHealthCall reports whether path is a method of gRPC's health service, which needs no token.
func isHealthCall(path string) bool {
	method, ok := strings.CutPrefix(path, "/grpc.health.v1.Health/")
	return ok && (method == "Check" || method == "Watch" || method == "List")
}

func isWriteMethod(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// simpleTypes are sent by browsers for any site, without a preflight request.
var simpleTypes = []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data"}

// acceptsType reports whether the type of a body is accepted: the types that the service lists. Without a list,
// and for gRPC or Connect, it accepts all but simpleTypes.
func (o *Ops) acceptsType(q Question) bool {
	name, _, _ := strings.Cut(q.ContentType, ";")
	name = strings.ToLower(strings.Trim(name, " \t"))
	if o.service.Types != nil && !isRPC(q) {
		return slices.Contains(o.service.Types, name)
	}
	isOneType := strings.Contains(name, "/") && !strings.Contains(name, ",")
	return isOneType && !slices.Contains(simpleTypes, name)
}

// logRejected logs a request that the gate rejects. head is nil if it could not be read.
func (o *Ops) logRejected(head *requestHead, status int) {
	if o == nil || o.line == nil {
		return
	}
	q := Question{Method: "-", Path: "-"}
	if head != nil {
		q = head.question
	}
	o.line(q.Method, q.Path, status, 0)
}

// hasBearer checks the token of an Authorization field. Comparing hashes takes constant time.
func (o *Ops) hasBearer(authorization string) bool {
	scheme, token, _ := strings.Cut(authorization, " ")
	sum := sha256.Sum256([]byte(strings.Trim(token, " ")))
	return subtle.ConstantTimeCompare(sum[:], o.token[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// readyTimeout limits a service's check of whether it is ready.
const readyTimeout = 2 * time.Second

func (o *Ops) readyPage() Page {
	var err error // why the service is not ready
	switch {
	case o.ending.Load():
		err = errors.New("the service is ending")
	case o.service.Ready != nil:
		ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
		defer cancel()
		err = o.service.Ready(ctx)
	}
	if err != nil {
		return Page{Status: http.StatusServiceUnavailable, ContentType: typeText, Body: []byte("not ready: " + err.Error() + "\n")}
	}
	return Page{Status: http.StatusOK, ContentType: typeText, Body: []byte("ready\n")}
}

func (o *Ops) indexPage() Page {
	page := struct {
		Service string   `json:"service"`
		Routes  []string `json:"routes"`
		OpenAPI string   `json:"openapi,omitempty"`
	}{Service: o.name, Routes: []string{}}
	for _, r := range o.all {
		page.Routes = append(page.Routes, r.String())
	}
	if o.openAPI != nil {
		page.OpenAPI = "/openapi.json"
	}
	body, _ := json.MarshalIndent(page, "", "  ") // texts always encode
	return Page{Status: http.StatusOK, ContentType: typeJSON, Body: append(body, '\n')}
}

func (o *Ops) errorPage(status int, message string) Page {
	if o.service.Refuse != nil {
		return Page{Status: status, ContentType: typeJSON, Body: o.service.Refuse(status, message)}
	}
	return Page{Status: status, ContentType: typeText, Body: []byte(message + "\n")}
}

func (o *Ops) metricsPage(accept string) Page {
	var b strings.Builder
	if o.service.Metrics != nil {
		b.Write(o.service.Metrics())
	}
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/sched/goroutines:goroutines"}}
	metrics.Read(sample)
	connections, refused, closed := o.limits.readCounts()
	storedBytes, unstoredRequests := o.budget.readCounts()
	for _, m := range []struct {
		name, kind, help string
		value            uint64
	}{
		{"server_requests_total", "counter", "Requests that the app has answered.", uint64(o.receipts.readCounts().Requests)},
		{"server_connections", "gauge", "Connections that are open.", uint64(connections)},
		{"server_connections_refused_total", "counter", "Connections that were closed at once, because there were too many.", uint64(refused)},
		{"server_connections_idle_closed_total", "counter", "Idle connections that were closed to make room for others.", uint64(closed)},
		{"server_request_bytes", "gauge", "Bytes that requests in flight store, beyond a few of each connection.", storedBytes},
		{"server_requests_unstored_total", "counter", "Requests that were rejected because there were too many bytes or streams in flight.", unstoredRequests},
		{"server_start_time_seconds", "gauge", "When the server was started, in seconds since 1970.", uint64(o.started.Unix())},
		{"server_memory_bytes", "gauge", "Memory that the Go runtime has mapped.", sample[0].Value.Uint64()},
		{"server_goroutines", "gauge", "Goroutines.", sample[1].Value.Uint64()},
	} {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", m.name, m.help, m.name, m.kind, m.name, m.value)
	}
	if strings.Contains(accept, "application/openmetrics-text") {
		return Page{Status: http.StatusOK, ContentType: typeOpenMetrics, Body: OpenMetrics([]byte(b.String()))}
	}
	return Page{Status: http.StatusOK, ContentType: typePrometheus, Body: []byte(b.String())}
}

// OpenMetrics converts metrics of Prometheus. HELP and TYPE of a counter lose the suffix _total. The text ends
// with # EOF.
func OpenMetrics(prometheus []byte) []byte {
	var b []byte
	for line := range strings.Lines(string(prometheus)) {
		if words := strings.SplitN(line, " ", 4); len(words) == 4 && words[0] == "#" { // # HELP name text
			words[2] = strings.TrimSuffix(words[2], "_total")
			line = strings.Join(words, " ")
		}
		b = append(b, line...)
	}
	return append(b, "# EOF\n"...)
}
