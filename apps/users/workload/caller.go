package workload

import (
	"encoding/json"
	"net/http"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/kinds/server"
)

// newCaller returns how contenders with a client of their own are called.
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

// encodeLines returns the calls of list. A get replaces a request that is not a call, which is not
// sent.
func encodeLines(list []server.Request) ([][]byte, error) {
	out := make([][]byte, len(list))
	for i, q := range list {
		c, ok := callOf(q)
		if !ok {
			c = rpc.Call{Op: opGet, ID: users.FirstID}
		}
		var err error
		if out[i], err = json.Marshal(c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// parseOutcome returns a client's output as a response over HTTP.
func parseOutcome(q server.Request, output []byte) (server.Response, error) {
	var refused struct {
		Code users.Code `json:"code"`
	}
	if err := json.Unmarshal(output, &refused); err != nil {
		return server.Response{}, err
	}
	if refused.Code != "" {
		return errorResponse(refused.Code.HTTP(), refused.Code), nil
	}
	r := server.Response{Status: http.StatusOK, Header: map[string]string{server.ContentType: server.TypeJSON}, Body: output}
	if c, _ := callOf(q); c.Op == opCreate {
		r.Status = http.StatusCreated
	}
	return r, nil
}
