package server

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
)

// request is one case; response is the answer to one.
type (
	request  = wire.HTTPRequest
	response = wire.HTTPResponse
)

// app is a service that can be weighed: what is asked of it, and what it should
// answer.
type app struct {
	ops []string
	n   int // of workloads that do not say how many things are in a body, or in the service; zero: there are none to count

	// requests are the pool of a workload, whose n is filled in: as many
	// different ones as it says, or as its op needs.
	requests func(w tare.Workload) ([]request, error)
	repeats  []string // ops that ask for the same more than once in a turn of the pool

	// probes are asked once, and must be refused, or answered, as the contract
	// says.
	probes func() []probe
	// questions are asked once, where servers are known to differ and the
	// contract leaves room, or nobody reads that closely.
	questions func() []question

	// answers are the reference: to each of list, in turn. A type has no
	// parameters and is in lower case.
	answers func(w wire.Workload, list []request) ([]response, error)
	// same reports whether two bodies say the same; nil: every byte counts.
	same func(want, got []byte) bool
	// refuses says what is wrong with a refusal besides its status; nil: nothing
	// is looked at.
	refuses func(got response) string

	// settings completes how a program that serves w is configured.
	settings func(w wire.Workload, list []request, set map[string]string) error
	// encode writes the body of a request in another format; nil: there is one.
	encode func(q request, format string) (request, error)

	delivers bool // its programs say what has arrived behind them
	null     bool // the null contender serves it; else it answers anything to anything
}

// probe is a request that must be refused, or one that looks a little like that
// and must not be.
type probe struct {
	request
	what string // is special about it; empty: method and path say it
}

// probing are probes of which the same is special.
func probing(what string, list ...request) []probe {
	var probes []probe
	for _, q := range list {
		probes = append(probes, probe{q, what})
	}
	return probes
}

// question is a request on which servers differ.
type question struct {
	request
	name     string   // unique in its app
	property string   // row of the table
	what     string   // that was asked for, to follow "answers 404 to"
	asked    string   // as the table shows it; empty: method and path
	bearsOn  []string // operations of workloads whose users meet it
}

// apps are all services there are, by the fixture's name.
func apps() map[string]app {
	return map[string]app{"tiny": tinyApp(), "ingest": ingestApp(), "homelab": homelabApp()}
}

// nothingApp is what the null contender serves where it does not know the app:
// it reads what comes, and answers.
const nothingApp = ""

// Types of bodies.
const (
	typeJSON = "application/json"
	typeText = "text/plain"
)

// answered is a reference whose body is of a type.
func answered(kind string, body []byte) response {
	return response{Status: http.StatusOK, Header: map[string]string{contentType: kind}, Body: body}
}

// refused is a reference of which only the status is said; what else there has
// to be, the app says.
func refused(status int) response {
	return response{Status: status, Header: map[string]string{contentType: typeJSON}}
}

func get(path string) request { return request{Method: http.MethodGet, Path: path} }

// names lists apps in one line.
func names(known map[string]app) string {
	return strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}

// typeOf is a content type without its parameters, in lower case.
func typeOf(header string) string {
	kind, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// contentType is the one header that is compared.
const contentType = "Content-Type"
