package workload

import (
	"encoding/json"
	"net/http"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/kinds/server"
)

// newCaller converts requests to the input of a program's own client, and its output to responses.
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

// encodeLines returns calls as JSON. A request that is no call becomes a get, which is not sent, so that
// indices match.
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

// parseOutcome converts a client's output to an HTTP response.
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
