// Command httprouter is julienschmidt/httprouter.
package main

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/julienschmidt/httprouter"

	"github.com/tarebench/tare/contender/server"
)

func main() { server.Main(server.Apps{server.Plain("tiny", tiny)}) }

type answer struct {
	ID string `json:"id"`
}

func tiny(o server.Options) (server.Server, error) {
	r := httprouter.New()
	r.HandleOPTIONS = false                                     // 405 where it would be 200
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false // 404 where it would be 301
	r.GET("/v1/id/:id", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		o.Receipts.Request()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer{p.ByName("id")}) // the client has gone
	})
	r.GET("/health", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		o.Receipts.Request()
		_, _ = io.WriteString(w, "ok\n")
	})
	return server.HTTP(server.AccessLog(r, o)), nil
}
