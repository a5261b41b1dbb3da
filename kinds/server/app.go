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

// Request is one case, as it is asked over HTTP/1.1: one line of a pool.
type Request struct {
	Method string            `json:"method"`
	Path   string            `json:"path"` // as in the request line: escaped, with the query
	Header map[string]string `json:"header,omitempty"`
	Body   []byte            `json:"body,omitempty"`   // base64 in the file; of gRPC without the prefix of a message
	Items  int               `json:"items,omitempty"`  // in the body, where it is a batch
	Fill   []load.Fill       `json:"fill,omitempty"`   // what is written into it each time
	Status int               `json:"status,omitempty"` // that answers it, whatever was asked before; zero: that of the reference
	Call   any               `json:"call,omitempty"`   // what it asks for, where the app can say it in other ways too
}

// Response is the answer to one. Header holds only what the kind compares.
type Response = wire.HTTPResponse

// App is a service that can be measured: what is asked of it, and what it should
// answer.
type App struct {
	Name string // of the fixture in studies
	Ops  []string
	N    int // of workloads that do not say how many things are in a body, or in the service; zero: there are none to count

	// Counts is what that number counts; nil: items of a body.
	Counts func(op string) tare.Counts

	// Requests are the pool of a workload, whose n is filled in: as many
	// different ones as it says, or as its op needs.
	Requests func(w tare.Workload) ([]Request, error)
	Repeats  []string                                              // ops that ask for the same more than once in a turn of the pool
	Per      func(op string) int64                                 // requests that one operation takes, in turn; nil: one
	Parts    func(op string) []tare.Part                           // other ops that op is made of; nil: none is
	Most     func(w wire.Workload, t tare.Traffic) (request int64) // that the service can take before it must be set back; nil or zero: any number

	// Probes are asked once, and must be refused, or answered, as the contract
	// says. Nil: there are none.
	Probes func() []Probe
	// Questions are asked once, where servers are known to differ and the
	// contract leaves room, or nobody reads that closely. Nil: there are none.
	Questions func() []Question

	// Answers are the reference: to each of list, in turn, by a service that
	// nothing was asked before. A type has no parameters and is in lower case.
	Answers func(w wire.Workload, list []Request) ([]Response, error)
	// Changes reports whether what op asks for changes the service. Then answers
	// depend on what was asked before, and the service is set back (op reset)
	// before each slice. Nil: nothing does.
	Changes func(op string) bool
	// Same reports whether two bodies say the same; nil: every byte counts.
	Same func(want, got []byte) bool
	// Refuses says what is wrong with a refusal besides its status; nil: nothing
	// is looked at.
	Refuses func(want, got Response) string
	// Sound says what is wrong with an answer to q, which is filled in with
	// nobody knows what; nil: its status is all that is looked at.
	Sound func(w wire.Workload, q Request, got Response) string

	// Words are keys of a set that are for the kind; programs do not see them.
	Words []string
	// Settings completes how a program that serves w is configured. dir is its
	// trial's.
	Settings func(w wire.Workload, list []Request, set map[string]string, dir string) error
	// Holds is the memory that a program which serves w keeps its data in, in
	// bytes at most; nil: too little to count.
	Holds func(w wire.Workload) int64
	// Dialect is how a contender that is configured so is asked; nil: as the
	// requests are.
	Dialect func(c tare.Contender, set map[string]string) (Dialect, error)
	// Caller is how contenders ask that bring a client; nil: none does.
	Caller *Caller

	Delivers bool // its programs say what has arrived behind them
	Null     bool // the null contender serves it; else it answers anything to anything
}

// Dialect is how the requests of an app go over the network, where they are the
// same ones in other words. Every zero value works: as they are, over HTTP/1.1.
type Dialect struct {
	Name     string // requests in dialects of one name are the same bytes
	Protocol load.Protocol
	PerConn  int // requests on one connection; zero: no limit

	// Encode says q in other words; false: they have none for it, and it is not
	// asked. Nil: q is asked as it is.
	Encode func(q Request) (Request, bool, error)
	// Decode is what an answer to q means in the words of the reference; nil:
	// what it says.
	Decode func(q Request, got Response) Response
	// Client is set where the contender's own client asks: what its workload's
	// set holds besides where the server listens.
	Client map[string]string
}

// Caller is an app whose contenders bring a client of their own, in the same
// program: a second process of it is prepared for the workload with a set of
// where the server listens and how it is to be asked.
type Caller struct {
	// Lines is the client's pool: what each of list asks for.
	Lines func(list []Request) ([][]byte, error)
	// Asks reports whether the client can ask for q.
	Asks func(q Request) bool
	// Outcome is what a client's answer means in the words of the reference.
	Outcome func(q Request, output []byte) (Response, error)
}

// Probe is a request that must be refused, or one that looks a little like that
// and must not be.
type Probe struct {
	Request
	What string // is special about it; empty: method and path say it
}

// Probing are probes of which the same is special.
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
	What     string   // that was asked for, to follow "answers 404 to"
	Asked    string   // as the table shows it; empty: method and path
	BearsOn  []string // operations of workloads whose users meet it

	// Look is what of a body is in question, as the table shows it; nil: all of
	// what it means.
	Look func(body []byte) string
}

// nothingApp is what the null contender serves where it does not know the app:
// it reads what comes, and answers.
const nothingApp = ""

// Types of bodies.
const (
	TypeJSON = "application/json"
	TypeText = "text/plain"
)

// Answered is a reference whose body is of a type.
func Answered(kind string, body []byte) Response {
	return Response{Status: http.StatusOK, Header: map[string]string{ContentType: kind}, Body: body}
}

// Refused is a reference of which only the status is said; what else there has
// to be, the app says.
func Refused(status int) Response {
	return Response{Status: status, Header: map[string]string{ContentType: TypeJSON}}
}

// Get asks for a path.
func Get(path string) Request { return Request{Method: http.MethodGet, Path: path} }

// WithHeader is q with another header; an empty value is none.
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

// names lists apps in one line.
func names(known map[string]App) string {
	return strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}

// typeOf is a content type without its parameters, in lower case.
func typeOf(header string) string {
	kind, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// ContentType is the one header that is compared.
const ContentType = "Content-Type"
