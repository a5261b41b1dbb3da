package workload

import (
	"encoding/json"
	"net/http"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/kinds/server"
)

// newCaller returns the functions that convert requests to the input of a contender's own client, and
// the client's output to responses.
func newCaller() *server.Caller {
	return &server.Caller{
		Lines: encodeLines,
		Asks: func(q server.Request) bool {
			_, ok := callOf(q)
			return ok
		},
		Outcome: parseOutcome,
	}
}

// encodeLines returns the calls of list as JSON, one per request. A client cannot send a request that is
// not a call. A get takes its place, so that each call has the index of its request; it is not sent.
func encodeLines(list []server.Request) ([][]byte, error) {
	lines := make([][]byte, len(list))
	for i, q := range list {
		c, ok := callOf(q)
		if !ok {
			c = rpc.Call{Op: opGet, ID: users.FirstID}
		}
		var err error
		if lines[i], err = json.Marshal(c); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// parseOutcome converts the output of a client for the request q to a response over HTTP.
func parseOutcome(q server.Request, output []byte) (server.Response, error) {
	var refusal struct {
		Code users.Code `json:"code"`
	}
	if err := json.Unmarshal(output, &refusal); err != nil {
		return server.Response{}, err
	}
	if refusal.Code != "" {
		return errorResponse(refusal.Code.HTTP(), refusal.Code), nil
	}
	r := server.Response{Status: http.StatusOK, Header: map[string]string{server.ContentType: server.TypeJSON}, Body: output}
	if c, _ := callOf(q); c.Op == opCreate {
		r.Status = http.StatusCreated
	}
	return r, nil
}
