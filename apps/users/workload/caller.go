package workload

import (
	"encoding/json"
	"net/http"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/kinds/server"
)

// caller is how contenders ask that bring their client.
func caller() *server.Caller {
	return &server.Caller{
		Lines: lines,
		Asks: func(q server.Request) bool {
			_, ok := callOf(q)
			return ok
		},
		Outcome: outcome,
	}
}

// lines are the calls of list. In place of what is no call, and is not asked for,
// stands one.
func lines(list []server.Request) ([][]byte, error) {
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

// outcome is what a client shows as an answer over HTTP.
func outcome(q server.Request, output []byte) (server.Response, error) {
	var refused struct {
		Code users.Code `json:"code"`
	}
	if err := json.Unmarshal(output, &refused); err != nil {
		return server.Response{}, err
	}
	if refused.Code != "" {
		return refusal(refused.Code.HTTP(), refused.Code), nil
	}
	r := server.Response{Status: http.StatusOK, Header: map[string]string{server.ContentType: server.TypeJSON}, Body: output}
	if c, _ := callOf(q); c.Op == opCreate {
		r.Status = http.StatusCreated
	}
	return r, nil
}
