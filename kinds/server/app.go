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
	Path   string            `json:"path"` // as in the request line: escaped, with the query
	Header map[string]string `json:"header,omitempty"`
	Body   []byte            `json:"body,omitempty"`   // base64 in the file; of gRPC without the prefix of a message
	Items  int               `json:"items,omitempty"`  // in the body, if it is a batch
	Fill   []load.Fill       `json:"fill,omitempty"`   // what is written into it each time
	Status int               `json:"status,omitempty"` // the correct one, whatever requests came before; 0 means that of the reference
	Call   any               `json:"call,omitempty"`   // the call it makes, if the app has other encodings for it
}

// Response is the response to one. Header has only the headers that the kind compares.
type Response = wire.HTTPResponse

// App is a service that can be measured: its requests, and the correct responses.
type App struct {
	Name string // of the fixture in studies
	Ops  []string
	N    int // default number of things in a body, or in the service; zero means there are none to count

	// Counts names the counted units; nil means items of a body.
	Counts func(op string) tare.Counts

	// Requests returns the pool of a workload, whose n is set: as many different ones as its pool,
	// or as its op needs.
	Requests func(w tare.Workload) ([]Request, error)
	Repeats  []string                                              // ops that ask for the same more than once in a turn of the pool
	Per      func(op string) int64                                 // requests of one operation, one after another; nil means one
	Parts    func(op string) []tare.Part                           // other ops that op consists of; nil means none
	Most     func(w wire.Workload, t tare.Traffic) (request int64) // that the service can take before it must be reset; nil or 0: any number

	// Probes are sent once, and must be rejected, or answered, as the contract states. Nil means none.
	Probes func() []Probe
	// Questions are sent once: requests on which servers are known to differ and the contract is
	// open, or rarely read closely. Nil means none.
	Questions func() []Question

	// Answers are the reference: to each of list, in turn, by a service that no request came
	// before. A type has no parameters and is in lower case.
	Answers func(w wire.Workload, list []Request) ([]Response, error)
	// Changes reports whether the requests of op change the service. Then responses depend on
	// earlier requests, and the service is reset (op reset) before each slice. Nil: nothing does.
	Changes func(op string) bool
	// Same reports whether two bodies are equivalent; if nil, every byte counts.
	Same func(want, got []byte) bool
	// Refuses returns what is wrong with an error response except for its status; nil means nothing
	// is looked at.
	Refuses func(want, got Response) string
	// Sound returns what is wrong with a response to q, which is filled in with unknown values; if
	// nil, only its status is checked.
	Sound func(w wire.Workload, q Request, got Response) string

	// Words are keys of a set that are for the kind; programs do not see them.
	Words []string
	// Settings completes how a program that serves w is configured. dir is its
	// trial's.
	Settings func(w wire.Workload, list []Request, set map[string]string, dir string) error
	// Holds returns the maximum memory in bytes of the data of a program that serves w; nil means
	// too little to count.
	Holds func(w wire.Workload) int64
	// Dialect returns the request encoding of a contender with that configuration; nil means
	// unchanged requests.
	Dialect func(c tare.Contender, set map[string]string) (Dialect, error)
	// Caller defines the calls of contenders that have a client; nil if none has.
	Caller *Caller

	Delivers bool // its programs report what has arrived at their destination
	Null     bool // the null contender serves it; else it answers anything to anything
}

// Dialect is the encoding of an app's requests on the network, if it differs from their form in
// pools. Every zero value works: unchanged, over HTTP/1.1.
type Dialect struct {
	Name     string // requests in dialects of one name are the same bytes
	Protocol load.Protocol
	PerConn  int // requests on one connection; zero means no limit

	// Encode returns q in the encoding, or false if it cannot express q, which is then not sent. If
	// nil, q is sent unchanged.
	Encode func(q Request) (Request, bool, error)
	// Decode returns a response to q in the form of the reference; nil means unchanged.
	Decode func(q Request, got Response) Response
	// Client is set if the contender's own client sends the requests: the keys of its workload's
	// set except for the server's address.
	Client map[string]string
}

// Caller is an app whose contenders have a client, in the same program: a second process of it is
// prepared for the workload with a set of the server's address and the encoding of requests.
type Caller struct {
	// Lines is the client's pool: the call for each of list.
	Lines func(list []Request) ([][]byte, error)
	// Asks reports whether the client can send q.
	Asks func(q Request) bool
	// Outcome returns a client's answer in the form of the reference.
	Outcome func(q Request, output []byte) (Response, error)
}

// Probe is a request that must be rejected, or one that resembles such a request and must not be.
type Probe struct {
	Request
	What string // special property of the request; empty if method and path show it
}

// Probing returns probes with the same special property.
func Probing(what string, list ...Request) []Probe {
	var probes []Probe
	for _, q := range list {
		probes = append(probes, Probe{q, what})
	}
	return probes
}

// Question is a request on which servers differ.
type Question struct {
	Request
	Name     string   // unique in its app
	Property string   // row of the table
	What     string   // the request in words, to follow "answers 404 to"
	Asked    string   // as the table shows it; empty means method and path
	BearsOn  []string // operations of workloads whose users meet it

	// Look returns the part of a body in question, as the table shows it; nil means all of its
	// value.
	Look func(body []byte) string
}

// nothingApp is the app of a null contender that does not know the real one: it reads requests, and
// answers.
const nothingApp = ""

// Types of bodies.
const (
	TypeJSON = "application/json"
	TypeText = "text/plain"
)

// Answered returns a reference whose body is of a type.
func Answered(kind string, body []byte) Response {
	return Response{Status: http.StatusOK, Header: map[string]string{ContentType: kind}, Body: body}
}

// Refused returns a reference of which only the status is given. The app defines the rest of an
// error response.
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

// ContentType is the only header that is compared.
const ContentType = "Content-Type"
