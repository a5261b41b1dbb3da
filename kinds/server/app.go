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

// Request is one case in the form of HTTP/1.1. A pool has the requests that a workload sends in a
// cycle, one on each line.
type Request struct {
	Method string            `json:"method"`
	Path   string            `json:"path"` // escaped, with the query
	Header map[string]string `json:"header,omitempty"`
	Body   []byte            `json:"body,omitempty"`   // base64 in the file; a message of gRPC has no length prefix
	Items  int               `json:"items,omitempty"`  // items of a batch in the body
	Fill   []load.Fill       `json:"fill,omitempty"`   // numbers to write into each request
	Status int               `json:"status,omitempty"` // correct one; 0 for that of the reference
	Call   any               `json:"call,omitempty"`   // call that apps with other encodings need
}

// Response is the response to a Request. Header has only compared headers.
type Response = wire.HTTPResponse

// ContentType is the only header of responses that is compared.
const ContentType = "Content-Type"

// App is a service that can be measured: its requests, and the correct responses.
type App struct {
	Name string   // fixture's name in studies
	Ops  []string // operations of workloads
	N    int      // items in a body or in the service; may be 0

	// Counts names the counted units; nil means items of a body.
	Counts func(op string) tare.Counts

	// Requests returns the pool of a workload, whose N is set. The number of different requests is
	// w.Pool, or depends on the op.
	Requests func(w tare.Workload) ([]Request, error)
	// Repeats lists the ops whose pools contain equal requests.
	Repeats []string
	// Per returns the number of requests of one operation; nil means 1.
	Per func(op string) int64
	// Parts returns the other ops that op consists of; nil means none.
	Parts func(op string) []tare.Part
	// Most returns the number of requests after which the service must be reset; nil or 0 means
	// any.
	Most func(w wire.Workload, t tare.Traffic) (request int64)

	// Probes are requests that must be rejected, or answered, as the contract states. Nil means
	// none.
	Probes func() []Probe
	// Questions are requests to which servers are known to respond differently. Nil means none.
	Questions func() []Question

	// Answers returns the correct responses to list, sent one after another to a service in its
	// initial state. A content type has no parameters and is in lower case.
	Answers func(w wire.Workload, list []Request) ([]Response, error)
	// Changes reports whether the requests of op change the service. Then it is reset before each
	// slice, a timed part of a round. Nil means that no op does.
	Changes func(op string) bool
	// Same reports whether two bodies are equivalent; if nil, only equal bytes are.
	Same func(want, got []byte) bool
	// Refuses returns what is wrong with an error response, or "". If nil, only the status is
	// checked.
	Refuses func(want, got Response) string
	// Sound returns what is wrong with a response to q, or "". Filled numbers are not known. If
	// nil, only the status is checked.
	Sound func(w wire.Workload, q Request, got Response) string

	// Words are keys of a workload's set that programs do not see.
	Words []string
	// Settings adds the settings of a program that serves w to set. dir is the directory of the
	// trial.
	Settings func(w wire.Workload, list []Request, set map[string]string, dir string) error
	// Holds returns the bytes of memory for the data of w; nil means too little to count.
	Holds func(w wire.Workload) int64
	// Dialect returns the request encoding of c with the settings in set; nil means unchanged
	// requests.
	Dialect func(c tare.Contender, set map[string]string) (Dialect, error)
	// Caller defines the calls of contenders that have a client; nil if none has.
	Caller *Caller

	Delivers bool // programs count the items that have arrived at their destination
	Null     bool // the null contender, which does no work, serves the app; otherwise it sends one response to all requests
}

// Dialect is the encoding of an app's requests on the network. The zero value means unchanged
// requests over HTTP/1.1.
type Dialect struct {
	Name     string // equal names mean equal bytes
	Protocol load.Protocol
	PerConn  int // requests of a connection; 0 means no limit

	// Encode returns q in the encoding, or false if it cannot express q. If nil, q is unchanged.
	Encode func(q Request) (Request, bool, error)
	// Decode returns a response to q in the form of the reference; nil means unchanged.
	Decode func(q Request, got Response) Response
	// Client has the settings of the contender's own client, without the server's address. It is
	// nil without a client.
	Client map[string]string
}

// Caller defines the calls of an app whose contenders have a client in the same program. The client
// is a second process, with the keys of [Dialect.Client].
type Caller struct {
	// Lines returns the client's pool: the calls that make the requests in list.
	Lines func(list []Request) ([][]byte, error)
	// Asks reports whether the client can send q.
	Asks func(q Request) bool
	// Outcome returns a client's answer in the form of the reference.
	Outcome func(q Request, output []byte) (Response, error)
}

// Probe is a request that must be rejected, or a similar one that must not.
type Probe struct {
	Request
	What string // special property of the request; may be ""
}

// Probing returns probes with the same special property.
func Probing(property string, list ...Request) []Probe {
	var probes []Probe
	for _, q := range list {
		probes = append(probes, Probe{Request: q, What: property})
	}
	return probes
}

// Question is a request on which servers differ.
type Question struct {
	Request
	Name     string   // unique name in the app
	Property string   // row of the report's table of differences
	What     string   // request in words, as in "answers 404 to …"
	Asked    string   // request in the table; "" for method and path
	BearsOn  []string // operations that the difference affects

	// Look returns the part of a body that the question is about; nil means all.
	Look func(body []byte) string
}

// nothingApp is the app of a null contender that does not serve the real app. It sends the same
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
// rest.
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

func joinNames(known map[string]App) string {
	return strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}

func typeOf(header string) string {
	kind, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}
