package server

import (
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/app/tiny"
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

	// requests are the pool of an op: so many different ones, or as many as
	// the op needs where pool is zero.
	requests func(op string, pool int) ([]request, error)

	// probes are asked once, and must be refused, or answered, as the contract
	// says.
	probes []request

	// questions are asked once, where servers are known to differ and the
	// contract leaves room, or nobody reads that closely.
	questions []question

	// answer is the reference. The type has no parameters and is in lower case.
	answer func(q request) response
}

// question is a request on which servers differ.
type question struct {
	request
	name     string   // unique in its app
	property string   // row of the table
	what     string   // that was asked for, to follow "answers 404 to"
	bearsOn  []string // operations of workloads whose users meet it
}

// apps are all services there are, by the fixture's name.
func apps() map[string]app {
	return map[string]app{"tiny": tinyApp()}
}

// nothingApp is what the null contender serves where the requests are the user's
// own, which it knows nothing of.
const nothingApp = "tiny"

// nothingOf asks for the least there is as many times.
func nothingOf(pool []request) []request {
	return slices.Repeat([]request{get(tiny.Health)}, len(pool))
}

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
