package server

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load"
)

// Request is one case in the form of HTTP/1.1: one line of a pool.
type Request struct {
	Method string            `json:"method"`
	Path   string            `json:"path"` // escaped path with the query, as in a request line
	Header map[string]string `json:"header,omitempty"`
	Body   []byte            `json:"body,omitempty"`   // base64 in the file; a message of gRPC has no length prefix
	Items  int               `json:"items,omitempty"`  // number of items in the body, if it is a batch
	Fill   []load.Fill       `json:"fill,omitempty"`   // numbers to write into the request each time it is sent
	Status int               `json:"status,omitempty"` // correct status, if it does not depend on earlier requests; 0 for the status of the reference
	Call   any               `json:"call,omitempty"`   // call that the request makes, if the app has other encodings of it
}

// Response is the response to a Request. Header has only the headers that the kind compares.
type Response = wire.HTTPResponse

// ContentType is the only header of responses that is compared.
const ContentType = "Content-Type"

// App is a service that can be measured: its requests, and the correct responses.
type App struct {
	Name string   // name of the fixture in studies
	Ops  []string // operations that a workload can name
	N    int      // default number of items in a body or in the service; 0 if the app has no such number

	// Counts names the counted units; nil means items of a body.
	Counts func(op string) tare.Counts

	// Requests returns the pool of a workload, whose N is set. It has as many different requests as
	// w.Pool, or as the op needs.
	Requests func(w tare.Workload) ([]Request, error)
	// Repeats lists the ops whose pools contain equal requests.
	Repeats []string
	// Per returns the number of requests of one operation, which are sent one after another; nil
	// means 1.
	Per func(op string) int64
	// Parts returns the other ops that op consists of; nil means none.
	Parts func(op string) []tare.Part
	// Most returns the number of requests that the service can take before it must be reset; nil or 0
	// means any number.
	Most func(w wire.Workload, t tare.Traffic) (request int64)

	// Probes are requests that are sent once and must be rejected, or answered, as the contract
	// states. Nil means none.
	Probes func() []Probe
	// Questions are requests that are sent once. Servers are known to differ in their responses,
	// because the contract does not define them, or few authors know that part of it. Nil means none.
	Questions func() []Question

	// Answers returns the reference: the correct responses to the requests in list, sent one after
	// another to a service in its initial state. A content type has no parameters and is in lower
	// case.
	Answers func(w wire.Workload, list []Request) ([]Response, error)
	// Changes reports whether the requests of op change the service. In that case responses depend on
	// earlier requests, and the service is reset before each slice. Nil means that no op does.
	Changes func(op string) bool
	// Same reports whether two bodies are equivalent; if nil, only equal bytes are.
	Same func(want, got []byte) bool
	// Refuses returns what is wrong with an error response except for its status, or ""; if nil, only
	// the status is checked.
	Refuses func(want, got Response) string
	// Sound returns what is wrong with a response to q, or "". The numbers that were filled into the
	// request are not known. If nil, only the status is checked.
	Sound func(w wire.Workload, q Request, got Response) string

	// Words are keys of a workload's set that only the kind reads; programs do not see them.
	Words []string
	// Settings adds the settings of a program that serves w to set. dir is the directory of the
	// trial.
	Settings func(w wire.Workload, list []Request, set map[string]string, dir string) error
	// Holds returns the maximum memory in bytes of the data of a program that serves w; nil means
	// too little to count.
	Holds func(w wire.Workload) int64
	// Dialect returns the request encoding of contender c with the settings in set; nil means
	// unchanged requests.
	Dialect func(c tare.Contender, set map[string]string) (Dialect, error)
	// Caller defines the calls of contenders that have a client; nil if none has.
	Caller *Caller

	Delivers bool // programs of the app report the number of items that have arrived at their destination
	Null     bool // the null contender supports the app; if false, it sends the same response to all requests
}

// Dialect is the encoding of an app's requests on the network, if it differs from their form in
// pools. The zero value means unchanged requests over HTTP/1.1.
type Dialect struct {
	Name     string // dialects with the same name encode requests into the same bytes
	Protocol load.Protocol
	PerConn  int // number of requests after which a connection is closed; 0 means no limit

	// Encode returns q in the encoding, or false if it cannot express q, which is then not sent. If
	// nil, q is sent unchanged.
	Encode func(q Request) (Request, bool, error)
	// Decode returns a response to q in the form of the reference; nil means unchanged.
	Decode func(q Request, got Response) Response
	// Client is set if the contender's own client sends the requests: the keys of its workload's
	// set except for the server's address.
	Client map[string]string
}

// Caller defines the calls of an app whose contenders have a client in the same program. A second
// process of the program is prepared for the workload; its set contains the server's address and
// the keys of [Dialect.Client].
type Caller struct {
	// Lines returns the client's pool: the calls that make the requests in list.
	Lines func(list []Request) ([][]byte, error)
	// Asks reports whether the client can send q.
	Asks func(q Request) bool
	// Outcome returns a client's answer in the form of the reference.
	Outcome func(q Request, output []byte) (Response, error)
}

// Probe is a request that must be rejected, or a similar request that must not be rejected.
type Probe struct {
	Request
	What string // special property of the request, for messages; "" if method and path show it
}

// Probing returns probes with the same special property.
func Probing(what string, list ...Request) []Probe {
	var probes []Probe
	for _, q := range list {
		probes = append(probes, Probe{Request: q, What: what})
	}
	return probes
}

// Question is a request on which servers differ.
type Question struct {
	Request
	Name     string   // unique name in the app
	Property string   // row of the report's table of differences
	What     string   // the request in words, as in "answers 404 to …"
	Asked    string   // the request as the table shows it; "" for method and path
	BearsOn  []string // operations of workloads that the difference affects

	// Look returns the part of a body that the question is about, as the table shows it; nil means
	// the complete body.
	Look func(body []byte) string
}

// nothingApp is the app of a null contender that does not support the real one. It sends the same
// response to all requests.
const nothingApp = ""

// Content types of bodies.
const (
	TypeJSON = "application/json"
	TypeText = "text/plain"
)

// Answered returns a reference with status 200 and a body of the given content type.
func Answered(kind string, body []byte) Response {
	return Response{Status: http.StatusOK, Header: map[string]string{ContentType: kind}, Body: body}
}

// Refused returns the reference of an error response with the given status. [App.Refuses] checks the
// rest of the response.
func Refused(status int) Response {
	return Response{Status: status, Header: map[string]string{ContentType: TypeJSON}}
}

// Get returns a GET request for a path.
func Get(path string) Request { return Request{Method: http.MethodGet, Path: path} }

// WithHeader returns q with another header; an empty value removes it.
func WithHeader(q Request, name, value string) Request {
	header := map[string]string{}
	for k, v := range q.Header {
		header[k] = v
	}
	if header[name] = value; value == "" {
		delete(header, name)
	}
	q.Header = header
	return q
}

// joinNames lists apps in one line.
func joinNames(known map[string]App) string {
	return strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}

// typeOf returns a content type without its parameters, in lower case.
func typeOf(header string) string {
	kind, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}
